# HTTP, URI, address and data-group commands of the rules. `headers` is a flat list {name value name value}, in order.

proc ::irule::header_at {name {from -1}} {
    set found -1
    set i 0
    foreach {key value} $::irule::headers {
        if {[string equal -nocase $key $name]} { set found $i }
        incr i 2
    }
    return $found
}
proc ::irule::header_last {name} {
    set at [header_at $name]
    if {$at < 0} { return "" }
    lindex $::irule::headers [::expr {$at + 1}]
}
proc ::irule::header_all {name} {
    set all {}
    foreach {key value} $::irule::headers { if {[string equal -nocase $key $name]} { lappend all $value } }
    return $all
}
proc ::irule::header_remove {name} {
    set rest {}
    foreach {key value} $::irule::headers { if {![string equal -nocase $key $name]} { lappend rest $key $value } }
    set ::irule::headers $rest
    effect header-remove $name
}
proc HTTP::header {what args} {
    foreach {name value} $args break
    switch -- $what {
        value { return [::irule::header_last $name] }
        values { return [::irule::header_all $name] }
        exists { return [::expr {[::irule::header_at $name] >= 0}] }
        names {
            set names {}
            foreach {key -} $::irule::headers { lappend names $key }
            return $names
        }
        count { return [::expr {[llength $args] ? [llength [::irule::header_all $name]] : [llength $::irule::headers] / 2}] }
        at { return [lindex $::irule::headers [::expr {$name * 2}]] }
        insert {
            if {[llength $args] == 1} { set args $name }
            foreach {key value} $args {
                if {$key eq "lws"} continue
                lappend ::irule::headers $key $value
                ::irule::effect header-insert $key $value
            }
        }
        remove { foreach name $args { ::irule::header_remove $name } }
        replace {
            set at [::irule::header_at $name]
            if {$at < 0} { lappend ::irule::headers $name $value } else { lset ::irule::headers [::expr {$at + 1}] $value }
            ::irule::effect header-replace $name $value
        }
        is_keepalive { return [::expr {![string equal -nocase [::irule::header_last Connection] close]}] }
        default {
            if {[llength $args]} { error "HTTP::header: unknown word \"$what\"" }
            return [::irule::header_last $what]
        }
    }
    return
}
proc HTTP::host {args} {
    if {![llength $args]} { return [::irule::header_last Host] }
    HTTP::header replace Host [lindex $args 0]
}
proc ::irule::rewritable {name args} {
    variable facts
    if {![llength $args]} { return [fact $name] }
    effect $name [set facts($name) [lindex $args 0]]
    return
}
proc HTTP::uri {args} { eval ::irule::rewritable uri $args }
proc HTTP::method {args} { eval ::irule::rewritable method $args }
proc HTTP::version {args} { ::irule::fact version }
proc HTTP::status {} { ::irule::fact status }
proc HTTP::is_redirect {} { ::expr {[lsearch {301 302 303 307 308} [::irule::fact status]] >= 0} }
proc HTTP::is_keepalive {} { HTTP::header is_keepalive }
proc HTTP::path {args} {
    set uri [::irule::fact uri]
    if {![llength $args]} { return [lindex [split $uri ?] 0] }
    set cut [string first ? $uri]
    HTTP::uri [lindex $args 0][::irule::either [::expr {$cut < 0}] "" [string range $uri $cut end]]
}
proc HTTP::query {args} {
    set uri [::irule::fact uri]
    set cut [string first ? $uri]
    if {[llength $args]} { return [HTTP::uri [HTTP::path]?[lindex $args 0]] }
    ::irule::either [::expr {$cut < 0}] "" [string range $uri [::expr {$cut + 1}] end]
}
proc HTTP::request {} {
    set out "[::irule::fact method] [::irule::fact uri] HTTP/[::irule::fact version]\r\n"
    foreach {key value} $::irule::headers { append out "$key: $value\r\n" }
    return $out\r\n
}
proc HTTP::username {} { lindex [split [::irule::credentials] :] 0 }
proc HTTP::password {} { join [lrange [split [::irule::credentials] :] 1 end] : }
proc ::irule::credentials {} {
    if {![regexp -nocase {^basic\s+(\S+)} [header_last Authorization] - code]} { return "" }
    base64 decode $code
}
proc ::irule::cookies {} {
    set all {}
    foreach line [header_all Cookie] {
        foreach pair [split $line ";"] {
            set cut [string first = $pair]
            if {$cut > 0} { lappend all [string trim [string range $pair 0 [::expr {$cut - 1}]]] [string trim [string range $pair [::expr {$cut + 1}] end]] }
        }
    }
    return $all
}
proc HTTP::cookie {what args} {
    foreach {name value} $args break
    set all [::irule::cookies]
    switch -- $what {
        names { set names [list]
            foreach {key -} $all { lappend names $key }
            return $names }
        count { return [::expr {[llength $all] / 2}] }
        exists - value { }
        insert {
            array set given $args
            if {[info exists given(name)]} { foreach {name value} [list $given(name) $given(value)] break }
            if {[string match HTTP_RESPONSE* $::irule::event]} {
                set path [::expr {[info exists given(path)] ? "; path=$given(path)" : ""}]
                return [HTTP::header insert Set-Cookie "$name=$value$path"]
            }
            return [::irule::cookies_write [concat $all [list $name $value]]]
        }
        remove { return [::irule::cookies_without $name $all] }
        default {
            set name $what
            set what value
        }
    }
    foreach {key found} $all { if {$key eq $name} { return [::irule::either [::expr {$what eq "exists"}] 1 $found] } }
    ::irule::either [::expr {$what eq "exists"}] 0 ""
}
proc ::irule::cookies_without {name all} {
    set rest {}
    foreach {key value} $all { if {$key ne $name} { lappend rest $key $value } }
    cookies_write $rest
}
proc ::irule::cookies_write {all} {
    set pairs {}
    foreach {key value} $all { lappend pairs "$key=$value" }
    header_remove Cookie
    if {[llength $pairs]} { HTTP::header insert Cookie [join $pairs "; "] }
}
proc ::irule::answer {status content headers} {
    if {$::irule::responded} { error "Operation not supported. Multiple redirect/respond invocations not allowed" }
    set ::irule::responded 1
    eval [list effect respond $status $content] $headers
}
proc HTTP::respond {status args} {
    set content ""
    set headers {}
    if {[lindex $args 0] eq "-version"} { set args [lrange $args 2 end] }
    for {set i 0} {$i < [llength $args]} {incr i} {
        switch -- [lindex $args $i] {
            content { set content [lindex $args [incr i]] }
            noserver {}
            default { lappend headers [lindex $args $i] [lindex $args [incr i]] }
        }
    }
    ::irule::answer $status $content $headers
}
proc HTTP::redirect {location} { ::irule::answer 302 "" [list Location $location] }
proc HTTP::close {} { ::irule::effect close }
proc HTTP::disable {} { error "HTTP::disable: this simulator keeps to HTTP" }

# URIs.

proc ::irule::query_of {uri} {
    set cut [string first ? $uri]
    ::irule::either [::expr {$cut < 0}] "" [string range $uri [::expr {$cut + 1}] end]
}
proc URI::query {uri {name ""}} {
    set query [::irule::query_of $uri]
    if {$name eq ""} { return $query }
    foreach pair [split $query &] {
        set cut [string first = $pair]
        if {$cut < 0 ? $pair eq $name : [string range $pair 0 [::expr {$cut - 1}]] eq $name} {
            return [::irule::either [::expr {$cut < 0}] "" [string range $pair [::expr {$cut + 1}] end]]
        }
    }
    return ""
}
proc ::irule::uri_path {uri} {
    regsub {[?#].*$} $uri "" uri
    regsub {^[A-Za-z][A-Za-z0-9+.-]*://[^/]*} $uri "" uri
    return $uri
}
proc URI::path {uri args} {
    set path [::irule::uri_path $uri]
    return [string range $path 0 [string last / $path]]
}
proc URI::basename {uri} {
    set path [::irule::uri_path $uri]
    string range $path [::expr {[string last / $path] + 1}] end
}
proc URI::host {uri} {
    if {![regexp {^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?(\[[^]]*\]|[^/:?#]*)} $uri - host]} { return "" }
    return $host
}
proc URI::port {uri} {
    if {[regexp {^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?(?:\[[^]]*\]|[^/:?#]*):(\d+)} $uri - port]} { return $port }
    ::expr {[string match -nocase https:* $uri] ? 443 : 80}
}
proc URI::protocol {uri} {
    if {![regexp {^([A-Za-z][A-Za-z0-9+.-]*)://} $uri - protocol]} { return "" }
    return $protocol
}
proc URI::decode {text} {
    set out ""
    while {[regexp -indices {%[0-9A-Fa-f]{2}} $text hit]} {
        foreach {from to} $hit break
        append out [string range $text 0 [::expr {$from - 1}]] [format %c 0x[string range $text [::expr {$from + 1}] $to]]
        set text [string range $text [::expr {$to + 1}] end]
    }
    return $out$text
}
proc URI::encode {text} {
    set out ""
    foreach char [split $text ""] {
        if {[regexp {^[A-Za-z0-9_.~-]$} $char]} { append out $char } else { append out %[format %02X [scan $char %c]] }
    }
    return $out
}
