# Reads an iRule with Tcl's own rules of words and turns F5's expression words into plain Tcl.
# Nothing is rewritten but what must be: the result is the text with small edits at known places, so line numbers hold.
#
#   F5 writes                   plain Tcl                  binds like
#   a equals b                  a eq b                     eq
#   a contains b, starts_with,  irule_contains(a, b) ...   eq
#     ends_with, matches_glob, matches_regex
#   and  or  not                &&  ||  !                  &&  ||  !
#
# As on the device, `not` and `!` take only the operand beside them: `not [X] contains "y"` is `(not [X]) contains "y"`.

namespace eval irule {
    variable text ""
    variable edits {}
    # name, line and command of each literal pool and data-group
    variable references {}
    variable warnings {}
    variable event ""
    # where the expression parser stands, and where its expression ends
    variable at 0
    variable last -1
    variable known
    array set known {}
    variable procs {}
    variable expressions
    array set expressions {}
    variable power
    array set power {
        ? 1 || 2 or 2 && 3 and 3 | 4 ^ 5 & 6 eq 7 ne 7 equals 7 contains 7 starts_with 7 ends_with 7 matches_glob 7
        matches_regex 7 == 8 != 8 < 9 > 9 <= 9 >= 9 << 10 >> 10 + 11 - 11 * 12 / 12 % 12
    }
    variable functions {abs acos asin atan atan2 ceil cos cosh double exp floor fmod hypot int log log10 pow rand round
        sin sinh sqrt srand tan tanh wide}
    variable events {RULE_INIT CLIENT_ACCEPTED CLIENT_CLOSED HTTP_REQUEST HTTP_RESPONSE LB_SELECTED LB_FAILED}
    # The device has these too, but nothing here would ever fire them: a rule that waits for one is told so.
    variable events_not_carried {ACCESS_ACL_ALLOWED ASM_REQUEST_DONE CACHE_REQUEST CLIENT_DATA CLIENTSSL_CLIENTHELLO
        CLIENTSSL_HANDSHAKE DNS_REQUEST DNS_RESPONSE HTTP_REQUEST_DATA HTTP_REQUEST_RELEASE HTTP_REQUEST_SEND
        HTTP_RESPONSE_DATA HTTP_RESPONSE_RELEASE PERSIST_DOWN SERVER_CLOSED SERVER_CONNECTED SERVER_DATA SERVERSSL_HANDSHAKE
        STREAM_MATCHED}
    # Commands that look at a request have none here, and the device refuses the rule.
    variable without_http {RULE_INIT CLIENT_ACCEPTED CLIENT_CLOSED}
}

# A rule as parts: {handlers {event priority body}... procs {name args body}... references ... warnings ...}.
# Throws with errorcode {IRULE line} when the device would refuse it.
proc irule::read_rule {source} {
    variable text $source
    variable edits {}
    variable references {}
    variable warnings {}
    variable event ""
    set commands [top_level [expr {[string length $text] - 1}]]
    declare_procs $commands
    set parts [list handlers {} procs {}]
    set priority 500
    foreach words $commands {
        switch -- [literal [lindex $words 0]] {
            when { lappend handlers [read_when $words $priority] }
            proc { lappend bodies [read_proc $words] }
            priority { set priority [read_priority [lindex $words 1]] }
            timing {}
            default { refuse [lindex $words 0 1] "command is not valid in the current scope" $words }
        }
    }
    if {![info exists handlers] && ![info exists bodies]} { fail 0 "the rule is empty" }
    set out {handlers {} procs {}}
    if {[info exists handlers]} { dict set out handlers [render $handlers 2] }
    if {[info exists bodies]} { dict set out procs [render $bodies 2] }
    dict set out references $references
    dict set out warnings $warnings
    return $out
}

# An expression that is only known when the rule runs (`if $x`, `expr "$a contains $b"`).
proc irule::translate_expression {source} {
    variable expressions
    if {[info exists expressions($source)]} { return $expressions($source) }
    variable text $source
    variable edits {}
    variable references {}
    variable event ""
    expression 0 [expr {[string length $source] - 1}]
    if {[array size expressions] > 10000} { array unset expressions }
    return [set expressions($source) [edited 0 [string length $source]]]
}

proc irule::line {at} {
    variable text
    expr {[regexp -all \n [string range $text 0 [expr {$at - 1}]]] + 1}
}

proc irule::fail {at message} { return -code error -errorcode [list IRULE [line $at]] $message }

# The device's own way to say it: [what][the command].
proc irule::refuse {at message words} {
    variable text
    set command [string range $text [lindex $words 0 1] [lindex $words end 2]]
    fail $at "\[$message\]\[[string range $command 0 79]\]"
}

proc irule::top_level {end} {
    variable text
    set commands {}
    set at 0
    while {[set at [skip_to_command $at]] <= $end} {
        set words {}
        while {[set at [skip_blanks $at]] <= $end} {
            if {[string index $text $at] in {"\n" ";"}} break
            lappend words [word $at $end ""]
            set at [expr {[lindex $words end 2] + 1}]
        }
        lappend commands $words
    }
    return $commands
}

proc irule::declare_procs {commands} {
    variable procs {}
    foreach words $commands {
        if {[literal [lindex $words 0]] eq "proc"} { lappend procs [literal [lindex $words 1]] }
    }
}

proc irule::read_when {words priority} {
    variable event
    variable events
    set event [literal [lindex $words 1]]
    variable events_not_carried
    if {$event in $events_not_carried} { refuse [lindex $words 0 1] "this simulator does not fire $event" $words }
    if {$event ni $events} { refuse [lindex $words 0 1] "invalid event name: $event" $words }
    foreach {key value} [lrange $words 2 end-1] {
        switch -- [literal $key] {
            priority { set priority [read_priority $value] }
            timing {}
            default { refuse [lindex $key 1] "unexpected word in when" $words }
        }
    }
    set body [lindex $words end]
    if {[lindex $body 0] ne "braced" || [llength $words] < 3} { refuse [lindex $words 0 1] "when has no body" $words }
    body $body
    return [list $event $priority [lindex $body 1] [lindex $body 2]]
}

proc irule::read_priority {word} {
    set number [expr {$word eq "" ? "" : [literal $word]}]
    if {![regexp {^[0-9]+$} $number] || $number > 1000} { fail [lindex $word 1] "invalid priority: $number (0 to 1000)" }
    return $number
}

proc irule::read_proc {words} {
    variable text
    variable event ""
    if {[llength $words] != 4} { refuse [lindex $words 0 1] "wrong # args: should be \"proc name args body\"" $words }
    lassign $words - name params body
    if {[lindex $body 0] ne "braced"} { refuse [lindex $words 0 1] "proc has no body" $words }
    body $body
    return [list [literal $name] [inner $params] [lindex $body 1] [lindex $body 2]]
}

# Replaces the place of each body (its last two numbers) by the edited text.
proc irule::render {parts keep} {
    set out {}
    foreach part $parts {
        lassign [lrange $part $keep end] from to
        lappend out [concat [lrange $part 0 $keep-1] [list [edited [expr {$from + 1}] $to]]]
    }
    return $out
}

# Words and commands. A word is {kind first last}; kind is braced, quoted or bare.

proc irule::skip_to_command {at} {
    variable text
    while 1 {
        regexp -indices -start $at {\A(?:[ \t\r\n;]|\\\n)*} $text hit
        set at [expr {[lindex $hit 1] + 1}]
        if {[string index $text $at] ne "#"} { return $at }
        regexp -indices -start $at {\A(?:\\.|[^\n\\])*} $text hit
        set at [expr {[lindex $hit 1] + 1}]
        # A backslash that ends the text would be matched by neither.
        if {[string index $text $at] eq "\\"} { incr at }
    }
}

proc irule::skip_blanks {at} {
    variable text
    regexp -indices -start $at {\A(?:[ \t\r]|\\\n)*} $text hit
    expr {[lindex $hit 1] + 1}
}

# The commands from `at` to `end`, or to the bracket that closes them when `stop` is one. Answers where they end.
proc irule::script {at end {stop ""}} {
    variable text
    set opened $at
    while {[set at [skip_to_command $at]] <= $end} {
        if {$stop ne "" && [string index $text $at] eq $stop} { return $at }
        set words {}
        while {[set at [skip_blanks $at]] <= $end} {
            set char [string index $text $at]
            if {$char in {"\n" ";"} || ($stop ne "" && $char eq $stop)} break
            lappend words [word $at $end $stop]
            set at [expr {[lindex $words end 2] + 1}]
        }
        if {[llength $words]} { command $words }
    }
    if {$stop ne ""} { fail $opened "missing close-bracket" }
    return $at
}

proc irule::word {at end stop} {
    variable text
    switch -- [string index $text $at] {
        "\{" { set word [list braced $at [close_brace $at $end]] }
        "\"" { set word [list quoted $at [close_quote $at $end]] }
        default { return [list bare $at [bare_end $at $end $stop]] }
    }
    set next [expr {[lindex $word 2] + 1}]
    set char [string index $text $next]
    if {$next > $end || $char eq $stop || $char in {" " "\t" "\r" "\n" ";"} || ($char eq "\\" && [string index $text $next+1] eq "\n")} {
        return $word
    }
    # The device takes an opening brace right after a closing one, and rules in the field rely on it.
    if {$char eq "\{" && [lindex $word 0] eq "braced"} {
        edit $next 0 " "
        return $word
    }
    fail $next "extra characters after close-[expr {[lindex $word 0] eq "braced" ? "brace" : "quote"}]"
}

proc irule::close_brace {at end} {
    variable text
    set depth 0
    set i $at
    while {[regexp -indices -start $i {[\\{}]} $text hit]} {
        set i [lindex $hit 0]
        if {$i > $end} break
        switch -- [string index $text $i] {
            "\\" { incr i }
            "\{" { incr depth }
            "\}" { if {[incr depth -1] == 0} { return $i } }
        }
        incr i
    }
    fail $at "missing close-brace"
}

proc irule::close_quote {at end} {
    variable text
    set i [expr {$at + 1}]
    while {[regexp -indices -start $i {[\\"[]} $text hit]} {
        set i [lindex $hit 0]
        if {$i > $end} break
        switch -- [string index $text $i] {
            "\\" { incr i }
            "\"" { return $i }
            "\[" { set i [bracket $i $end] }
        }
        incr i
    }
    fail $at "missing \""
}

proc irule::bare_end {at end stop} {
    variable text
    set i $at
    while {$i <= $end} {
        if {![regexp -indices -start $i {[][\s;\\$]} $text hit]} break
        set i [lindex $hit 0]
        if {$i > $end} break
        set char [string index $text $i]
        switch -- $char {
            "\\" {
                if {[string index $text $i+1] eq "\n"} { return [expr {$i - 1}] }
                incr i
            }
            "\[" { set i [bracket $i $end] }
            "\]" { if {$stop ne ""} { return [expr {$i - 1}] } }
            "\$" { if {[string index $text $i+1] eq "\{"} { set i [close_brace [expr {$i + 1}] $end] } }
            default { return [expr {$i - 1}] }
        }
        incr i
    }
    return $end
}

proc irule::bracket {at end} { script [expr {$at + 1}] $end "\]" }

# The text of a word without substitutions, else the empty string.
proc irule::literal {word} {
    if {$word eq ""} { return "" }
    set value [inner $word]
    if {[lindex $word 0] ne "braced" && [regexp {[][$\\]} $value]} { return "" }
    return $value
}

proc irule::inner {word} {
    variable text
    lassign $word kind from to
    if {$kind ne "bare"} {
        incr from
        incr to -1
    }
    string range $text $from $to
}

proc irule::body {word} {
    if {[lindex $word 0] eq "braced"} { script [expr {[lindex $word 1] + 1}] [expr {[lindex $word 2] - 1}] }
}

# Edits: {place length text}. At one place the one made last stands first, so that an outer call opens before an inner.

proc irule::edit {at length text} {
    variable edits
    lappend edits [list [format %010d%010d $at [expr {1000000000 - [llength $edits]}]] $at $length $text]
}

proc irule::edited {from to} {
    variable text
    variable edits
    set out ""
    foreach item [lsort -index 0 $edits] {
        lassign $item - at length new
        if {$at < $from || $at > $to} continue
        append out [string range $text $from [expr {$at - 1}]] $new
        set from [expr {$at + $length}]
    }
    append out [string range $text $from [expr {$to - 1}]]
}
