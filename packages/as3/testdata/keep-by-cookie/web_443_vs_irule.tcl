when HTTP_REQUEST priority 500 {
    set fl_keep ""
    if { [info exists fl_chosen] } {
        unset fl_chosen
        return
    }
    set fl_client [lindex [split [IP::client_addr] "%"] 0]
    set fl_host [string tolower [HTTP::host]]
    if { [string index $fl_host 0] eq "\u005b" } {
        set fl_host [lindex [split [string range $fl_host 1 end] "\u005d"] 0]
    } else {
        set fl_host [lindex [split $fl_host ":"] 0]
    }
    set fl_rest { /t1/default_https_app/a_8080_pool 3 /t1/default_https_app/b_8080_pool 2 }
    if { ($fl_host ne "" && $fl_host eq "beta.domain.com") } {
        set fl_salt "beta"
        set fl_set { /t1/default_https_app/c_8080_pool 9 /t1/default_https_app/b_8080_pool 1 }
    } else {
        set fl_salt "default"
        set fl_set $fl_rest
    }
    set fl_kept [HTTP::cookie value "fl_web_443_vs.$fl_salt"]
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
        foreach { fl_one fl_weight } $fl_among {
            set fl_id [lindex [split $fl_one "/"] end]
            set fl_id [expr { [crc32 "$fl_salt|$fl_id"] & 0xffffffff }]
            if { $fl_id eq $fl_kept && [active_members $fl_one] > 0 } {
                set fl_name $fl_one
                break
            }
        }
        if { $fl_pool eq "" } { set fl_pool $fl_name }
        if { $fl_live || [active_members $fl_name] > 0 } {
            set fl_pool $fl_name
            break
        }
    }
    set fl_id [lindex [split $fl_pool "/"] end]
    set fl_id [expr { [crc32 "$fl_salt|$fl_id"] & 0xffffffff }]
    if { $fl_id ne $fl_kept } { set fl_keep "fl_web_443_vs.$fl_salt=$fl_id; path=/; HttpOnly; Secure" }
    pool $fl_pool
}
when HTTP_RESPONSE priority 500 {
    if { [info exists fl_keep] && $fl_keep ne "" } { HTTP::header insert "Set-Cookie" $fl_keep }
}
