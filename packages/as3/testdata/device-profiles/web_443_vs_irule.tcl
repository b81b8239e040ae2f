when HTTP_REQUEST priority 500 {
    set fl_host [string tolower [HTTP::host]]
    if { [string index $fl_host 0] eq "\u005b" } {
        set fl_host [lindex [split [string range $fl_host 1 end] "\u005d"] 0]
    } else {
        set fl_host [lindex [split $fl_host ":"] 0]
    }
    if { [string first "/" $fl_host] >= 0 } { set fl_host "" }
    set fl_path [HTTP::path]
    set fl_top [join [lrange [split $fl_path "/"] 0 0] "/"]
    set fl_dot [string first "." $fl_host]
    # The host itself, the wildcard, any; in each the exact path, then shorter and shorter prefixes.
    set fl_to ""
    foreach fl_name [list $fl_host "*[string range $fl_host $fl_dot end]" ""] {
        set fl_to [class match -value -- "e:$fl_name$fl_path" equals /t1/shop_ingress_app/web_443_vs_hosts]
        set fl_at $fl_top
        while { $fl_to eq "" } {
            set fl_to [class match -value -- "p:$fl_name$fl_at" equals /t1/shop_ingress_app/web_443_vs_hosts]
            set fl_cut [string last "/" $fl_at]
            if { $fl_cut < 0 } { break }
            set fl_at [string range $fl_at 0 [expr { $fl_cut - 1 }]]
        }
        if { $fl_to ne "" } { break }
    }
    if { $fl_to eq "" } {
        HTTP::respond 404 content "no route takes this host and path"
        return
    }
    set fl_to [split $fl_to "|"]
    set fl_what [lindex $fl_to 1]
    if { [lindex $fl_to 0] eq "to" } {
        HTTP::redirect $fl_what
        return
    }
    if { [lindex $fl_to 0] eq "https" } {
        if { $fl_host eq "" } {
            HTTP::respond 400 content "a host is needed"
            return
        }
        if { [string first ":" $fl_host] >= 0 } { set fl_host "\u005b$fl_host\u005d" }
        if { $fl_what ne "443" } { set fl_host "$fl_host:$fl_what" }
        HTTP::redirect "https://$fl_host[HTTP::uri]"
        return
    }
    set fl_pool /t1/shop_ingress_app/$fl_what
    if { [active_members $fl_pool] < 1 } {
        HTTP::respond 503 content "nobody is there to answer"
        return
    }
    if { [lindex $fl_to 3] ne "" } { HTTP::header replace "Host" [lindex $fl_to 3] }
    if { [lindex $fl_to 4] >= 0 } {
        set fl_path "[lindex $fl_to 5][string range $fl_path [lindex $fl_to 4] end]"
        if { $fl_path eq "" } { set fl_path "/" }
        HTTP::path $fl_path
    }
    pool $fl_pool
}
