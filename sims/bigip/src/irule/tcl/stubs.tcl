# F5's commands, as the rules see them: procedures of the safe child interpreter. What a rule wants done to the traffic is
# noted in `effects` as flat runs "verb argument-count argument ..." and carried out by the data plane afterwards.

namespace eval ::irule {
    variable effects {}
    variable rule ""
    variable connection ""
    variable event ""
    variable responded 0
    # the event's facts: client_addr client_port local_addr local_port method uri version server_addr server_port ...
    variable facts
    array set facts {}
    variable headers {}
    variable kept {}
    variable vars
    array set vars {}
    variable off
    array set off {}
    variable pools
    array set pools {}
    variable table
    array set table {}
    variable procs
    array set procs {}
}
namespace eval ::irule::h {}
namespace eval ::irule::p {}
foreach space {static IP TCP UDP HTTP URI LB SSL} { namespace eval ::$space {} }
unset space

# What `expr {$c ? $a : $b}` is for numbers. That one must not be used for text: it would make 64 of "0100".
proc ::irule::either {condition yes no} {
    if {$condition} { return $yes }
    return $no
}

proc ::irule::effect {args} {
    variable effects
    lappend effects [lindex $args 0] [::expr {[llength $args] - 1}]
    foreach word [lrange $args 1 end] { lappend effects $word }
}

# Runs the handlers {proc rule} of one event in order. The variables of a connection live from event to event.
proc ::irule::fire {handlers about values fields} {
    variable effects {}
    variable connection
    variable event
    variable responded 0
    variable facts
    variable headers $fields
    variable kept {}
    variable vars
    variable off
    variable rule
    foreach {connection event} $about break
    array unset facts
    array set facts $values
    if {[info exists vars($connection)]} { set kept $vars($connection) }
    foreach {handler rule} $handlers {
        if {[info exists off($connection)] && [is_off $rule]} continue
        set code [catch { $handler } message]
        if {$code != 0 && $code != 2} {
            effect error "$rule <$event> - [lindex [split $message \n] 0]"
            break
        }
    }
    if {[llength $kept]} { set vars($connection) $kept }
    return $effects
}

proc ::irule::is_off {rule} {
    variable off
    variable connection
    variable event
    foreach {where which} $off($connection) {
        if {($where eq "" || $where eq $rule) && ($which eq "" || $which eq $event)} { return 1 }
    }
    return 0
}

proc ::irule::forget {connection} {
    variable vars
    variable off
    unset -nocomplain vars($connection) off($connection)
}

# An object named by a rule: absolute, in the rule's own folder, or in /Common.
proc ::irule::object_path {what name} {
    variable rule
    if {[string match /* $name]} { set tries [list $name] } else {
        set tries [list [string range $rule 0 [string last / $rule]]$name /Common/$name]
    }
    foreach path $tries { if {[info exists ::irule::${what}($path)]} { return $path } }
    error "[::expr {$what eq "pools" ? "Unable to find pool" : "Unable to find data-group"}] ($name)"
}

proc ::tcl::mathfunc::irule_contains {a b} { ::expr {[string first $b $a] >= 0} }
proc ::tcl::mathfunc::irule_starts_with {a b} { string equal -length [string length $b] $b $a }
proc ::tcl::mathfunc::irule_ends_with {a b} {
    ::expr {[string length $a] >= [string length $b] && [string range $a end-[::expr {[string length $b] - 1}] end] eq $b}
}
proc ::tcl::mathfunc::irule_matches_glob {a b} { string match $b $a }
proc ::tcl::mathfunc::irule_matches_regex {a b} { regexp -- $b $a }

# Choice of a server.

proc pool {name args} {
    set path [::irule::object_path pools $name]
    if {![llength $args]} { return [::irule::effect pool $path] }
    if {[lindex $args 0] ne "member"} { error "pool: unknown word \"[lindex $args 0]\"" }
    ::irule::effect member $path [lindex $args 1] [lindex $args 2]
}
proc node {address {port ""}} {
    if {$port eq "" && [regexp {^(\d+\.\d+\.\d+\.\d+):(\d+)$} $address - address port]} {}
    ::irule::effect node $address $port
}
proc virtual {args} {
    if {![llength $args] || [lindex $args 0] eq "name"} { return $::irule::facts(virtual) }
    ::irule::effect virtual [lindex $args 0]
}
proc reject {} { ::irule::effect reject }
proc drop {} { ::irule::effect drop }
proc discard {} { ::irule::effect drop }
proc forward {} { error "forward: this simulator routes nothing" }
proc persist {{method none} args} { eval [list ::irule::effect persist $method] $args }
proc active_members {args} {
    set members $::irule::pools([::irule::object_path pools [lindex $args end]])
    set live {}
    foreach {address port up} $members { if {$up} { lappend live [list $address $port] } }
    if {[lindex $args 0] eq "-list"} { return $live }
    llength $live
}
proc members {args} {
    set all {}
    foreach {address port up} $::irule::pools([::irule::object_path pools [lindex $args end]]) { lappend all [list $address $port] }
    if {[lindex $args 0] eq "-list"} { return $all }
    llength $all
}

# Flow of the rule.

proc event {args} {
    set which [set where ""]
    if {[lsearch -exact {enable disable info} [lindex $args 0]] < 0} {
        set which [lindex $args 0]
        set args [lrange $args 1 end]
    } elseif {[lindex $args 1] ne "all"} { set which $::irule::event }
    if {[lindex $args 1] ne "all"} { set where $::irule::rule }
    switch -- [lindex $args 0] {
        disable { lappend ::irule::off($::irule::connection) $where $which }
        enable { unset -nocomplain ::irule::off($::irule::connection) }
        default { return $::irule::event }
    }
    return
}
# The command that `call name args` stands for.
proc ::irule::call_words {name words} {
    set owner $::irule::rule
    if {[set cut [string last :: $name]] > 0} {
        set owner [string range $name 0 [::expr {$cut - 1}]]
        set name [string range $name [::expr {$cut + 2}] end]
        if {![string match /* $owner]} { set owner [string range $::irule::rule 0 [string last / $::irule::rule]]$owner }
    }
    if {![info exists ::irule::procs($owner,$name)]} { error "undefined procedure: $name" }
    linsert $words 0 $::irule::procs($owner,$name)
}
proc log {args} { ::irule::effect log [lindex $args end] }

# The connection.

proc ::irule::fact {name} {
    if {![info exists ::irule::facts($name)]} { error "no $name in $::irule::event" }
    set ::irule::facts($name)
}
proc IP::client_addr {} { ::irule::fact client_addr }
proc IP::remote_addr {} { ::irule::fact client_addr }
proc IP::local_addr {} { ::irule::fact local_addr }
proc IP::server_addr {} { ::irule::fact server_addr }
proc IP::protocol {} { ::irule::fact protocol }
proc IP::version {} { ::expr {[string first : [::irule::fact client_addr]] >= 0 ? 6 : 4} }
foreach protocol {TCP UDP} {
    proc ${protocol}::client_port {} { ::irule::fact client_port }
    proc ${protocol}::remote_port {} { ::irule::fact client_port }
    proc ${protocol}::local_port {} { ::irule::fact local_port }
    proc ${protocol}::server_port {} { ::irule::fact server_port }
}
proc TCP::close {} { ::irule::effect drop }
proc LB::server {{what ""}} {
    switch -- $what {
        addr { ::irule::fact server_addr }
        port { ::irule::fact server_port }
        pool { ::irule::fact pool }
        default { return "[::irule::fact pool] [::irule::fact server_addr] [::irule::fact server_port]" }
    }
}
proc SSL::sni {{what name}} { ::irule::fact sni }

# Small tools of the device.

proc crc32 {text} {
    set sum [::irule::crc $text]
    ::expr {$sum > 0x7fffffff ? $sum - 0x100000000 : $sum}
}
proc getfield {text separators number} {
    # Unlike split, a separator of several characters is one separator.
    set rest $text
    for {set i 1} {$i < $number} {incr i} {
        set cut [string first $separators $rest]
        if {$cut < 0 || $separators eq ""} { return "" }
        set rest [string range $rest [::expr {$cut + [string length $separators]}] end]
    }
    set cut [string first $separators $rest]
    if {$cut < 0 || $separators eq ""} { return $rest }
    string range $rest 0 [::expr {$cut - 1}]
}
proc ::irule::until {text end} {
    if {[regexp {^\d+$} $end]} { return [string range $text 0 [::expr {$end - 1}]] }
    set cut [string first $end $text]
    if {$end eq "" || $cut < 0} { return $text }
    string range $text 0 [::expr {$cut - 1}]
}
proc substr {text {skip 0} {end ""}} { ::irule::until [string range $text $skip end] $end }
proc findstr {text sought {skip 0} {end ""}} {
    set at [string first $sought $text]
    if {$at < 0} { return "" }
    ::irule::until [string range $text [::expr {$at + $skip}] end] $end
}
proc domain {name count} {
    join [lrange [split $name .] end-[::expr {$count - 1}] end] .
}
proc b64encode {text} { ::irule::base64 encode $text }
proc b64decode {text} { ::irule::base64 decode $text }
proc htonl {number} { ::expr {$number & 0xffffffff} }
proc ntohl {number} { ::expr {$number & 0xffffffff} }

# The session table: a key lives `timeout` seconds from its last use, and `lifetime` seconds at most. Indefinite is 0.

proc table {what args} {
    set space ""
    while {[string match -* [lindex $args 0]]} {
        set flag [lindex $args 0]
        if {$flag eq "-subtable"} {
            set space [lindex $args 1]
            set args [lrange $args 2 end]
        } else { set args [lrange $args 1 end] }
    }
    set now [clock seconds]
    if {$what eq "keys"} { return [::irule::table_keys [::irule::either [::expr {$space ne ""}] $space [lindex $args 0]] $now] }
    foreach {key value timeout lifetime} $args break
    set at [list $space $key]
    set found [::irule::table_find $at $now]
    switch -- $what {
        set { return [::irule::table_put $at $value $timeout $lifetime $now] }
        add {
            if {[llength $found]} { return [lindex $found 0] }
            return [::irule::table_put $at $value $timeout $lifetime $now]
        }
        replace { if {[llength $found]} { return [::irule::table_put $at $value $timeout $lifetime $now] } }
        lookup { return [lindex $found 0] }
        incr - append {
            if {![llength $found]} { ::irule::table_put $at [::expr {$what eq "incr" ? 0 : ""}] "" "" $now }
            set old [lindex $::irule::table($at) 0]
            if {$what eq "incr"} { set new [::expr {$old + ($value eq "" ? 1 : $value)}] } else { set new "$old$value" }
            set ::irule::table($at) [lreplace $::irule::table($at) 0 0 $new]
            return $new
        }
        delete { unset -nocomplain ::irule::table($at) }
        timeout { return [lindex $found 1] }
        default { error "table: unknown word \"$what\"" }
    }
    return
}
proc ::irule::table_find {at now} {
    variable table
    if {![info exists table($at)]} return
    foreach {value timeout until touched} $table($at) break
    if {($timeout > 0 && $now > $touched + $timeout) || ($until > 0 && $now > $until)} {
        unset table($at)
        return
    }
    set table($at) [list $value $timeout $until $now]
}
proc ::irule::table_put {at value timeout lifetime now} {
    variable table
    if {$timeout eq ""} { set timeout 180 }
    foreach name {timeout lifetime} { if {[string match indef* [set $name]]} { set $name 0 } }
    set table($at) [list $value $timeout [::expr {$lifetime eq "" || $lifetime == 0 ? 0 : $now + $lifetime}] $now]
    return $value
}
proc ::irule::table_keys {space now} {
    variable table
    set keys {}
    foreach at [array names table] {
        if {[lindex $at 0] eq $space && [llength [table_find $at $now]]} { lappend keys [lindex $at 1] }
    }
    return $keys
}
