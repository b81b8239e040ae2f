# The iRule interpreter as a co-process. A line in is one Tcl list, a line out is tab-separated words with \\ \t \n \r escaped.
#
#   in                                                     out
#   define  key path text                                  ok facts | fault line message | bug trace
#   restore key path text   (a rule read before)           -
#   undefine key                                           -
#   attach  set key...                                     -          a virtual server's rules, in its order
#   pool    path {address port up ...}  | unpool path      -
#   class   path type {name value ...}  | unclass path     -
#   fire    set connection event {fact value} {headers}    effect...
#   forget  connection                                     -
#
# Rules run in a safe interpreter that has the commands of the device's Tcl 8.4 and no others, each run under a time limit.

set here [file dirname [file normalize [info script]]]
source [file join $here translate.tcl]
source [file join $here forms.tcl]

set limit [lindex $argv 0]
set child [interp create -safe]
array set rules {}
array set sets {}
array set plans {}
set serial 0

# Tcl's own commands that the device has. The rest (dict, lassign, exec, open, socket, file, after, ...) is absent there.
set tcl84 {append array binary break catch clock concat continue error eval expr for foreach format global if incr info join
    lappend lindex linsert list llength lrange lreplace lsearch lset lsort regexp regsub return scan set split string subst
    switch unset variable while}

# On the device, but not carried by this simulator: said so, since "undefined procedure" would be untrue.
foreach name {HTTP::collect HTTP::payload HTTP::release HTTP::retry HTTP::class HTTP::proxy TCP::collect TCP::payload
    TCP::release TCP::respond UDP::payload UDP::respond SSL::cert SSL::cipher SSL::disable SSL::enable SSL::collect
    SSL::payload STREAM::enable STREAM::expression STREAM::disable COMPRESS::enable COMPRESS::disable CACHE::enable
    CACHE::disable AES::encrypt AES::decrypt AES::key LB::reselect LB::detach LB::down LB::up LB::mode LB::status
    LB::persist session clone snat snatpool nexthop sideband connect send recv ISTATS::get ISTATS::set ISTATS::incr
    NAME::lookup RESOLV::lookup whereis md5 sha1 sha256 HSL::open HSL::send ASM::disable ACCESS::session after ifile ONECONNECT::reuse
    ROUTE::domain LINK::vlan_id STATS::incr STATS::get DNS::question b64url_encode translate rateclass priority timing} {
    set irule::not_carried($name) 1
}

proc prepare_child {} {
    global child tcl84 here
    interp invokehidden $child source [file join $here stubs.tcl]
    interp invokehidden $child source [file join $here http.tcl]
    interp invokehidden $child source [file join $here class.tcl]
    interp alias $child ::irule::translate {} irule::translate_expression
    interp alias $child ::irule::crc {} crc_of
    interp alias $child ::irule::base64 {} base64_of
    interp alias $child clock {} clock_of
    set own [interp eval $child {
        set own {}
        foreach space {:: ::HTTP:: ::IP:: ::TCP:: ::UDP:: ::URI:: ::LB:: ::SSL::} {
            foreach name [info commands ${space}*] { if {[info procs $name] ne ""} { lappend own [string trimleft $name :] } }
        }
        unset -nocomplain protocol
        # The stubs keep what they need under names that no rule is let to write.
        rename uplevel ::irule::uplevel
        proc ::irule::evaluate {args} { ::irule::uplevel 1 [list ::expr [::irule::translate [join $args " "]]] }
        proc ::call {name args} { ::irule::uplevel 1 [::irule::call_words $name $args] }
        set own
    }]
    foreach name [concat $tcl84 $own call] { set irule::known($name) 1 }
    foreach name {tclLog unknown auto_load auto_import auto_execok auto_qualify auto_load_index tcl_findLibrary} {
        unset -nocomplain irule::known($name)
    }
    interp hide $child proc
    interp hide $child namespace
    interp hide $child rename
    foreach name [interp eval $child {info commands ::*}] {
        set plain [string trimleft $name :]
        if {![info exists irule::known($plain)] && $plain ni {unknown}} { interp invokehidden $child rename $name {} }
    }
}

proc crc_of {text} { zlib crc32 [octets $text] }
proc base64_of {way text} {
    if {$way eq "encode"} { return [binary encode base64 [octets $text]] }
    binary decode base64 $text
}
proc clock_of {args} {
    if {[lindex $args 0] ni {seconds clicks format scan}} { error "clock: unknown word \"[lindex $args 0]\"" }
    clock {*}$args
}
# Bytes stand for themselves; text beyond them goes as UTF-8.
proc octets {text} {
    if {[regexp {^[\u0000-\u00ff]*$} $text]} { return $text }
    encoding convertto utf-8 $text
}

# Keeps the rule; answers what the reader learnt of it or why it is refused.
proc define {key path text} {
    global rules serial child
    if {[catch { irule::read_rule $text } parts options]} {
        set code [dict get $options -errorcode]
        if {[lindex $code 0] ne "IRULE"} { return [list bug [dict get $options -errorinfo]] }
        return [list fault [lindex $code 1] $parts]
    }
    set handlers {}
    foreach handler [dict get $parts handlers] {
        lassign $handler event priority body
        set name ::irule::h::[incr serial]
        interp invokehidden $child proc $name {} [handler_body $body]
        lappend handlers [list $event $priority $name]
    }
    set procs {}
    foreach item [dict get $parts procs] {
        lassign $item name params body
        set command ::irule::p::[incr serial]
        if {[catch { interp invokehidden $child proc $command $params $body } message]} { return [list fault 1 $message] }
        lappend procs $name $command
    }
    set rules($key) [dict create path $path handlers $handlers procs $procs]
    set events {}
    foreach handler $handlers { lappend events [lindex $handler 0] }
    list ok [llength $events] {*}$events [llength [dict get $parts warnings]] {*}[dict get $parts warnings] \
        {*}[dict get $parts references]
}

# `return` ends the handler, not the keeping of the connection's variables, so the body stands inside a catch. The loops
# stand in the procedure itself because only there are the variables its own and the whole compiled once.
proc handler_body {body} {
    return "foreach {__irule_n __irule_v} \$::irule::kept {if {\[string index \$__irule_n 0\] eq {(}} {array set \[string range \$__irule_n 1 end\] \$__irule_v} else {set \$__irule_n \$__irule_v}}
set __irule_c \[catch {$body
} __irule_m\]
set ::irule::kept {}
foreach __irule_n \[info locals\] {
if {!\[string match __irule_? \$__irule_n\] && \[info exists \$__irule_n\]} {
if {\[array exists \$__irule_n\]} {lappend ::irule::kept (\$__irule_n \[array get \$__irule_n\]} else {lappend ::irule::kept \$__irule_n \[set \$__irule_n\]}
}}
return -code \[lindex {0 1 0 1 1} \$__irule_c\] \$__irule_m"
}

proc undefine {key} {
    global rules child
    if {![info exists rules($key)]} return
    foreach handler [dict get $rules($key) handlers] { interp invokehidden $child rename [lindex $handler 2] {} }
    foreach {- command} [dict get $rules($key) procs] { interp invokehidden $child rename $command {} }
    unset rules($key)
}

# The handlers of a virtual server by event: lower priority first, equal ones in the order of its list.
proc attach {set args} {
    global rules plans sets child
    foreach old [array names plans $set,*] { unset plans($old) }
    set sets($set) $args
    set all {}
    foreach key $args {
        set path [dict get $rules($key) path]
        foreach {name command} [dict get $rules($key) procs] { interp eval $child [list set ::irule::procs($path,$name) $command] }
        foreach handler [dict get $rules($key) handlers] { lappend all [concat $handler [list $path]] }
    }
    foreach handler [lsort -integer -index 1 $all] {
        lassign $handler event - name path
        lappend plans($set,$event) $name $path
    }
    if {[info exists plans($set,RULE_INIT)]} { run $plans($set,RULE_INIT) [list "" RULE_INIT] {} {} }
}

proc detach {set} {
    global plans sets
    foreach old [array names plans $set,*] { unset plans($old) }
    unset -nocomplain sets($set)
}

proc run {handlers about facts headers} {
    global child limit
    set until [expr {[clock milliseconds] + $limit}]
    interp limit $child time -seconds [expr {$until / 1000}] -milliseconds [expr {$until % 1000}] -granularity 50
    if {[catch { interp eval $child [list ::irule::fire $handlers $about $facts $headers] } effects]} {
        return [list error 1 "[lindex $handlers 1] <[lindex $about 1]> - [lindex [split $effects \n] 0]"]
    }
    return $effects
}

proc fire {set connection event facts headers} {
    global plans
    if {![info exists plans($set,$event)]} { return {} }
    run $plans($set,$event) [list $connection $event] $facts $headers
}

proc reply {words} {
    set out {}
    foreach word $words { lappend out [string map {"\\" "\\\\" "\t" "\\t" "\n" "\\n" "\r" "\\r"} $word] }
    puts stdout [join $out \t]
}

proc serve {} {
    global child
    chan configure stdin -encoding utf-8 -translation lf -buffersize 65536
    chan configure stdout -encoding utf-8 -translation lf -buffering full -buffersize 65536
    while {[gets stdin line] >= 0} {
        set rest [lrange $line 1 end]
        switch -- [lindex $line 0] {
            fire { reply [fire {*}$rest] }
            define { reply [define {*}$rest] }
            restore { define {*}$rest }
            undefine { undefine {*}$rest }
            attach { attach {*}$rest }
            detach { detach {*}$rest }
            forget { interp eval $child [list ::irule::forget {*}$rest] }
            pool { interp eval $child [list set ::irule::pools([lindex $rest 0]) [lindex $rest 1]] }
            unpool { interp eval $child [list unset -nocomplain ::irule::pools([lindex $rest 0])] }
            class { interp eval $child [list ::irule::class_put {*}$rest] }
            unclass { interp eval $child [list ::irule::class_drop {*}$rest] }
            default { error "bug: unknown request: [lindex $line 0]" }
        }
        # Only when nothing more is waiting: answers travel in batches as the questions do.
        if {[chan pending input stdin] == 0} { flush stdout }
    }
}

prepare_child
serve
