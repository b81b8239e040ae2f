# What single commands mean to the reader of rules: which words are scripts, conditions and names of objects.

proc irule::command {words} {
    set name [literal [lindex $words 0]]
    if {$name eq ""} return
    check_name $name $words
    switch -- [string trimleft $name :] {
        if { command_if $words }
        while {
            arguments $words 3 3
            condition [lindex $words 1]
            body [lindex $words 2]
        }
        for {
            arguments $words 5 5
            body [lindex $words 1]
            condition [lindex $words 2]
            body [lindex $words 3]
            body [lindex $words 4]
        }
        foreach { body [lindex $words end] }
        catch - eval { if {[llength $words] > 1} { body [lindex $words 1] } }
        switch { command_switch $words }
        expr { command_expr $words }
        pool { reference pool [lindex $words 1] $words }
        active_members { reference pool [lindex $words end] $words }
        class { command_class $words }
        matchclass - findclass {
            set at [expr {$name eq "matchclass" ? 3 : 2}]
            reference data-group [lindex $words $at] $words
        }
    }
}

proc irule::check_name {name words} {
    variable known
    variable event
    variable without_http
    variable not_carried
    set plain [string trimleft $name :]
    if {[info exists not_carried($plain)]} { refuse [lindex $words 0 1] "this simulator does not carry $plain" $words }
    if {![info exists known($plain)]} { refuse [lindex $words 0 1] "undefined procedure: $name" $words }
    if {[string match HTTP::* $plain] && $event in $without_http} {
        refuse [lindex $words 0 1] "command is not valid in current event context ($event)" $words
    }
}

proc irule::arguments {words least most} {
    if {[llength $words] < $least || [llength $words] > $most} { refuse [lindex $words 0 1] "wrong # args" $words }
}

proc irule::condition {word} {
    lassign $word kind from to
    if {$kind eq "braced"} {
        expression [expr {$from + 1}] [expr {$to - 1}]
    } else {
        edit $from 0 "\[::irule::evaluate "
        edit [expr {$to + 1}] 0 "\]"
    }
}

proc irule::command_if {words} {
    set i 1
    while 1 {
        if {[llength $words] < $i + 2} { refuse [lindex $words 0 1] "wrong # args: no script in if" $words }
        condition [lindex $words $i]
        incr i
        if {[literal [lindex $words $i]] eq "then"} { incr i }
        body [lindex $words $i]
        incr i
        if {[literal [lindex $words $i]] ne "elseif"} break
        incr i
    }
    if {$i >= [llength $words]} return
    if {[literal [lindex $words $i]] eq "else"} { incr i }
    if {$i != [llength $words] - 1} { refuse [lindex $words 0 1] "wrong # args: extra words after \"else\" clause in \"if\" command" $words }
    body [lindex $words $i]
}

proc irule::command_expr {words} {
    if {[llength $words] == 2 && [lindex $words 1 0] eq "braced"} {
        condition [lindex $words 1]
    } elseif {[llength $words] > 1} {
        edit [lindex $words 0 1] [expr {[lindex $words 0 2] - [lindex $words 0 1] + 1}] ::irule::evaluate
    } else {
        refuse [lindex $words 0 1] "wrong # args: should be \"expr arg ?arg ...?\"" $words
    }
}

proc irule::command_switch {words} {
    set i 1
    while {[string match -* [literal [lindex $words $i]]] && $i < [llength $words]} {
        incr i
        if {[literal [lindex $words $i-1]] eq "--"} break
    }
    set cases [lrange $words $i+1 end]
    if {[llength $cases] == 1 && [lindex $cases 0 0] eq "braced"} {
        lassign [lindex $cases 0] - from to
        set cases [list_words [expr {$from + 1}] [expr {$to - 1}]]
    }
    if {[llength $cases] == 0 || [llength $cases] % 2} { refuse [lindex $words 0 1] "extra switch pattern with no body" $words }
    foreach {- case} $cases { body $case }
}

# The elements of a list that spans lines, as words.
proc irule::list_words {at end} {
    variable text
    set words {}
    while 1 {
        regexp -indices -start $at {\A(?:\s|\\\n)*} $text hit
        set at [expr {[lindex $hit 1] + 1}]
        if {$at > $end} { return $words }
        lappend words [word $at $end ""]
        set at [expr {[lindex $words end 2] + 1}]
    }
}

proc irule::command_class {words} {
    switch -- [literal [lindex $words 1]] {
        match - search {
            set i 2
            while {[string match -* [literal [lindex $words $i]]]} { incr i }
            incr i [expr {[literal [lindex $words 1]] eq "match" ? 2 : 0}]
            reference data-group [lindex $words $i] $words
        }
        lookup { reference data-group [lindex $words 3] $words }
        size - type - get - names { reference data-group [lindex $words end] $words }
    }
}

proc irule::reference {kind word words} {
    variable references
    variable text
    if {$word eq "" || [set name [literal $word]] eq ""} return
    set command [string range $text [lindex $words 0 1] [lindex $words end 2]]
    lappend references $kind $name [line [lindex $word 1]] [string range $command 0 79]
}

# Expressions: precedence climbing over the text itself. Each step answers {first last} of what it read.

proc irule::expression {from to} {
    variable at
    variable last
    set outer [list $at $last]
    set at $from
    set last $to
    binary_operand 0
    blanks
    if {$at <= $last} { bad_expression }
    lassign $outer at last
}

proc irule::blanks {} {
    variable text
    variable at
    regexp -indices -start $at {\A(?:\s|\\\n)*} $text hit
    set at [expr {[lindex $hit 1] + 1}]
}

proc irule::bad_expression {} {
    variable at
    variable last
    variable text
    fail [expr {$at > $last ? $last : $at}] "syntax error in expression near \"[string range $text $at [expr {min($last, $at + 39)}]]\""
}

# True, and `found` set, when the expression goes on with `pattern`.
proc irule::next {pattern {found found}} {
    variable text
    variable at
    variable last
    upvar 1 $found token
    blanks
    if {$at > $last || ![regexp -start $at -- "\\A(?:$pattern)" $text token]} { return 0 }
    expr {$at + [string length $token] - 1 <= $last}
}

proc irule::binary_operand {least} {
    variable at
    variable power
    set left [unary]
    while {[next {&&|\|\||<<|>>|<=|>=|==|!=|\*\*|[-+*/%<>&^|?]|(?:equals|contains|starts_with|ends_with|matches_glob|matches_regex|and|or|eq|ne|in|ni)(?![A-Za-z0-9_])} operator]} {
        if {$operator in {in ni **}} { fail $at "syntax error in expression: the operator \"$operator\" is not in Tcl 8.4" }
        if {$power($operator) < $least} break
        set where $at
        incr at [string length $operator]
        if {$operator eq "?"} {
            binary_operand 1
            if {![next :]} { bad_expression }
            incr at
            set right [binary_operand 1]
        } else {
            set right [binary_operand [expr {$power($operator) + 1}]]
            binary_edit $operator $where $left $right
        }
        set left [list [lindex $left 0] [lindex $right 1]]
    }
    return $left
}

proc irule::binary_edit {operator where left right} {
    set length [string length $operator]
    switch -- $operator {
        equals { edit $where $length eq }
        and { edit $where $length && }
        or { edit $where $length || }
        contains - starts_with - ends_with - matches_glob - matches_regex {
            edit $where $length ,
            edit [lindex $left 0] 0 irule_${operator}(
            edit [expr {[lindex $right 1] + 1}] 0 )
        }
    }
}

proc irule::unary {} {
    variable at
    variable warnings
    if {![next {not(?![A-Za-z0-9_])|[-+~!]} operator]} { return [operand] }
    set where $at
    incr at [string length $operator]
    if {$operator eq "not"} { edit $where 3 ! }
    set operand [unary]
    set stands $at
    if {$operator in {not !} && [next {equals|contains|starts_with|ends_with|matches|eq(?!\w)|ne(?!\w)|==|!=} word]} {
        lappend warnings "line [line $where]: \"$operator\" takes only the operand beside it, not the whole \"$word\""
    }
    set at $stands
    return [list $where [lindex $operand 1]]
}

proc irule::operand {} {
    variable text
    variable at
    variable last
    blanks
    if {$at > $last} { bad_expression }
    set from $at
    switch -- [string index $text $at] {
        "(" {
            incr at
            binary_operand 0
            close_parenthesis
            return [list $from [expr {$at - 1}]]
        }
        "\[" { set at [bracket $at $last] }
        "\"" { set at [close_quote $at $last] }
        "\{" { set at [close_brace $at $last] }
        default { return [simple_operand] }
    }
    incr at
    return [list $from [expr {$at - 1}]]
}

proc irule::close_parenthesis {} {
    variable at
    if {![next {\)}]} { bad_expression }
    incr at
}

proc irule::simple_operand {} {
    variable at
    variable functions
    set from $at
    if {[next {\$\{[^\}]*\}|\$(?:::)?[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*(?:\([^)]*\))?|0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?:true|false|yes|no|on|off)(?![A-Za-z0-9_(])} token]} {
        incr at [string length $token]
        return [list $from [expr {$at - 1}]]
    }
    if {![next {[A-Za-z_][A-Za-z0-9_]*\s*\(} token]} { bad_expression }
    set name [string trimright $token " \t("]
    if {$name ni $functions} { fail $at "syntax error in expression: unknown function \"$name\"" }
    incr at [string length $token]
    while {![next {\)}]} {
        binary_operand 0
        if {[next ,]} { incr at }
    }
    close_parenthesis
    return [list $from [expr {$at - 1}]]
}
