when HTTP_REQUEST priority 500 {
    set fl_client [lindex [split [IP::client_addr] "%"] 0]
    set fl_by $fl_client
    set fl_v0 ""
    set fl_has0 [HTTP::header exists "x-\u0024a\u0060|"]
    if { $fl_has0 } { set fl_v0 [HTTP::header value "x-\u0024a\u0060|"] }
    set fl_v1 ""
    set fl_has1 [HTTP::header exists "x-a"]
    if { $fl_has1 } { set fl_v1 [HTTP::header value "x-a"] }
    set fl_has2 0
    set fl_v2 ""
    foreach fl_pair [split [HTTP::query] "&"] {
        set fl_eq [string first "=" $fl_pair]
        if { $fl_eq < 0 } { set fl_eq [string length $fl_pair] }
        set fl_name [URI::decode [string map {+ " "} [string range $fl_pair 0 [expr { $fl_eq - 1 }]]]]
        if { !$fl_has2 && $fl_name eq "a\u0022\u003b exec id\u003b \u0023" } {
            set fl_has2 1
            set fl_v2 [URI::decode [string map {+ " "} [string range $fl_pair [expr { $fl_eq + 1 }] end]]]
        }
    }
    set fl_rest { /t1/default_http_app/web_8080_pool 1 }
    if { ($fl_has0 && $fl_v0 eq "x")
          || ($fl_has1 && ($fl_v1 eq "\u0022\u005d\u003b exec rm -rf /\u003b \u005b" || [string equal -length 11 "\u0024env(HOME)\u005c" $fl_v1] || $fl_v1 eq "\u007d\u007d\u007d\u007b" || $fl_v1 eq "\u0060=x\u0060" || [regexp -- "^\u0022\u005c\u005d\u003b exec \u005c\u005b\u005c\u0024x\u005c\u007b\u005c\u007d\u0024" $fl_v1]))
          || ($fl_has2 && $fl_v2 eq "\u005bexec id\u005d") } {
        set fl_salt "hostile"
        set fl_set { /t1/default_http_app/web2_8080_pool 1 }
    } else {
        set fl_salt "default"
        set fl_set $fl_rest
    }
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
        set fl_at [expr { ([crc32 "$fl_key|$fl_by"] & 0xffffffff) % $fl_sum }]
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
