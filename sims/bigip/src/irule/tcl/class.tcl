# Addresses and data-groups (classes). An address is a pair {bits number}; a network's key is "bits/length/prefix".

namespace eval ::irule {
    # class(path): {type {name value ...}};  exact(path,name): value;  net(path,bits/length/prefix): name;  lengths(path): {bits length}, longest first
    variable class
    array set class {}
    variable exact
    array set exact {}
    variable net
    array set net {}
    variable lengths
    array set lengths {}
}

proc ::irule::address {text} {
    regsub {%\d+$} $text "" text
    if {[regexp {^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$} $text - a b c d]} {
        foreach part {a b c d} { if {[scan [set $part] %d $part] != 1 || [set $part] > 255} { error "bad IP address format: $text" } }
        return [list 32 [::expr {($a << 24) | ($b << 16) | ($c << 8) | $d}]]
    }
    if {![regexp {^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$} $text]} { error "bad IP address format: $text" }
    if {[regexp {^(.*:)(\d+\.\d+\.\d+\.\d+)$} $text - head tail]} {
        set number [lindex [address $tail] 1]
        set text $head[format %x:%x [::expr {$number >> 16}] [::expr {$number & 0xffff}]]
    }
    set gap [string first :: $text]
    if {$gap >= 0} {
        set left [groups [string range $text 0 [::expr {$gap - 1}]]]
        set right [groups [string range $text [::expr {$gap + 2}] end]]
        set missing [::expr {8 - [llength $left] - [llength $right]}]
        if {$missing < 1} { error "bad IP address format: $text" }
        set all $left
        for {set i 0} {$i < $missing} {incr i} { lappend all 0 }
        set all [concat $all $right]
    } else { set all [groups $text] }
    if {[llength $all] != 8} { error "bad IP address format: $text" }
    set number 0
    foreach group $all { set number [::expr {($number << 16) | "0x$group"}] }
    return [list 128 $number]
}
proc ::irule::groups {text} {
    if {$text eq ""} { return {} }
    set groups [split $text :]
    foreach group $groups { if {![regexp {^[0-9A-Fa-f]{1,4}$} $group]} { error "bad IP address format: $text" } }
    return $groups
}
# {bits number length} of address, address/length or address/mask.
proc ::irule::network {text} {
    set length ""
    foreach {address length} [split $text /] break
    foreach {bits number} [address $address] break
    if {$length eq ""} { set length $bits } elseif {![regexp {^\d+$} $length]} {
        set length [mask_length $length]
    }
    if {$length > $bits} { error "bad network: $text" }
    list $bits $number $length
}
proc ::irule::mask_length {mask} {
    foreach {bits number} [address $mask] break
    for {set length 0} {$length < $bits && ($number >> ($bits - 1 - $length)) & 1} {incr length} {}
    return $length
}
proc ::irule::same_network {one other} {
    foreach {bits number length} [network $one] break
    foreach {bits2 number2 length2} [network $other] break
    if {$bits != $bits2} { return 0 }
    set shift [::expr {$bits - ($length < $length2 ? $length : $length2)}]
    ::expr {($number >> $shift) == ($number2 >> $shift)}
}
proc ::irule::address_text {bits number} {
    if {$bits == 32} {
        return [::expr {$number >> 24}].[::expr {($number >> 16) & 255}].[::expr {($number >> 8) & 255}].[::expr {$number & 255}]
    }
    set groups {}
    for {set shift 112} {$shift >= 0} {incr shift -16} { lappend groups [format %x [::expr {($number >> $shift) & 0xffff}]] }
    join $groups :
}
proc IP::addr {address what args} {
    switch -- $what {
        equals { return [::irule::same_network $address [lindex $args 0]] }
        mask {
            foreach {bits number} [::irule::address $address] break
            set shift [::expr {$bits - [::irule::mask_length [lindex $args 0]]}]
            return [::irule::address_text $bits [::expr {($number >> $shift) << $shift}]]
        }
        default { error "IP::addr: unknown word \"$what\"" }
    }
}

# Data-groups. The operator of `class match` asks of the item, that of `class search` of the record.

proc ::irule::class_put {path type records} {
    variable class
    variable exact
    variable net
    variable lengths
    class_drop $path
    set class($path) [list $type $records]
    set seen {}
    foreach {name value} $records {
        set exact($path,$name) $value
        if {$type ne "ip"} continue
        foreach {bits number length} [network $name] break
        set net($path,$bits/$length/[::expr {$number >> ($bits - $length)}]) $name
        lappend seen [list $bits $length]
    }
    set lengths($path) [lsort -integer -decreasing -index 1 [lsort -unique $seen]]
}
proc ::irule::class_drop {path} {
    variable class
    variable exact
    variable net
    variable lengths
    if {![info exists class($path)]} return
    foreach {name -} [lindex $class($path) 1] {
        unset -nocomplain exact($path,$name)
        if {[lindex $class($path) 0] ne "ip"} continue
        foreach {bits number length} [network $name] break
        unset -nocomplain net($path,$bits/$length/[::expr {$number >> ($bits - $length)}])
    }
    unset class($path) lengths($path)
}
# The names of the records that stand in `operator` to `item`, the closest network first.
proc ::irule::class_find {path item operator turned} {
    variable class
    variable exact
    variable net
    variable lengths
    if {[lindex $class($path) 0] eq "ip"} {
        foreach {bits number} [address [lindex [split $item /] 0]] break
        foreach pair $lengths($path) {
            foreach {size length} $pair break
            if {$size != $bits} continue
            set key $path,$bits/$length/[::expr {$number >> ($bits - $length)}]
            if {[info exists net($key)]} { return [list $net($key)] }
        }
        return {}
    }
    if {$operator eq "equals"} { return [::irule::either [info exists exact($path,$item)] [list $item] {}] }
    set test ::tcl::mathfunc::irule_$operator
    if {[info commands $test] eq ""} { error "class: unknown operator \"$operator\"" }
    set found {}
    foreach {name -} [lindex $class($path) 1] {
        if {$turned ? [$test $name $item] : [$test $item $name]} { lappend found $name }
    }
    return $found
}
proc ::irule::class_answer {path names flags} {
    variable exact
    set all [::expr {[lsearch -exact $flags -all] >= 0}]
    set out {}
    foreach name $names {
        set value $exact($path,$name)
        if {[lsearch -exact $flags -value] >= 0} { lappend out $value } \
        elseif {[lsearch -exact $flags -name] >= 0} { lappend out $name } \
        elseif {[lsearch -exact $flags -element] >= 0} { lappend out [list $name $value] } \
        else { return 1 }
        if {!$all} { return [lindex $out 0] }
    }
    ::irule::either [::expr {[llength $flags] == 0 || $flags eq "-all"}] 0 $out
}
proc class {what args} {
    set flags {}
    while {[string match -* [lindex $args 0]]} {
        set flag [lindex $args 0]
        set args [lrange $args 1 end]
        if {$flag eq "--"} break
        lappend flags $flag
    }
    switch -- $what {
        match {
            foreach {item operator name} $args break
            set path [::irule::object_path class $name]
            return [::irule::class_answer $path [::irule::class_find $path $item $operator 0] $flags]
        }
        search {
            foreach {name operator item} $args break
            set path [::irule::object_path class $name]
            return [::irule::class_answer $path [::irule::class_find $path $item $operator 1] $flags]
        }
        lookup {
            set path [::irule::object_path class [lindex $args 1]]
            return [::irule::class_answer $path [::irule::class_find $path [lindex $args 0] equals 0] -value]
        }
        exists { return [::expr {[catch { ::irule::object_path class [lindex $args 0] }] == 0}] }
    }
    set path [::irule::object_path class [lindex $args end]]
    foreach {type records} $::irule::class($path) break
    switch -- $what {
        type { return $type }
        size { return [::expr {[llength $records] / 2}] }
        names {
            set names {}
            foreach {name -} $records { lappend names $name }
            return $names
        }
        get { 
            set out {}
            foreach {name value} $records { lappend out [list $name $value] }
            return $out
        }
        default { error "class: unknown word \"$what\"" }
    }
}
proc matchclass {item operator name} { class match $item $operator $name }
proc findclass {item name {separator ""}} {
    set path [::irule::object_path class $name]
    foreach {key value} [lindex $::irule::class($path) 1] {
        if {$key eq $item} { return [::irule::either [::expr {$separator eq ""}] "$key $value" $value] }
    }
    return ""
}
