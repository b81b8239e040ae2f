when CLIENT_ACCEPTED priority 500 {
    set fl_client [lindex [split [IP::client_addr] "%"] 0]
    set fl_rest { /t1/default_udp_app/a_53_pool 3 /t1/default_udp_app/b_53_pool 2 }
    set fl_salt "default"
    set fl_set $fl_rest
    # By weight among all; if that one is dead, among the live; then among the live of the listener; else the first.
    set fl_pool ""
    foreach { fl_key fl_from fl_live } [list $fl_salt $fl_set 0 "${fl_salt}2" $fl_set 1 "default2" $fl_rest 1] {
        set fl_among [list]
        set fl_sum 0
        foreach { fl_name fl_weight } $fl_from {
            if { $fl_live && [active_members $fl_name] < 1 } { continue }
            lappend fl_among $fl_name $fl_weight
            incr fl_sum $fl_weight
        }
        if { $fl_sum < 1 } { continue }
        set fl_at [expr { int(rand() * $fl_sum) }]
        foreach { fl_name fl_weight } $fl_among {
            if { $fl_at < $fl_weight } { break }
            set fl_at [expr { $fl_at - $fl_weight }]
        }
        if { $fl_pool eq "" } { set fl_pool $fl_name }
        if { $fl_live || [active_members $fl_name] > 0 } {
            set fl_pool $fl_name
            break
        }
    }
    pool $fl_pool
}
