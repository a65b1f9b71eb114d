# shellcheck shell=bash
# Figures out of the JSON lines that the bench programs print, tables of them with their bars, and how busy the machine is.
# Sourced by other scripts.
# SPDX-License-Identifier: BSL-1.0

missed=0

# value_of <name> <files...>: the median over the lines of that name; nothing when there is none
value_of() {
    local name=$1
    shift
    cat "$@" 2>/dev/null | sed -n "s|.*\"name\":\"$name\",\"value\":\([-+0-9.e]*\),.*|\1|p" | sort -g |
        awk '{ v[NR] = $1 } END { if (NR) printf "%.9g\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

figures_header() { printf '%-56s %10s %-10s %s\n' figure value unit bar; }

# figure_row <label> <value or nothing> <unit> [most|least <bar>]: a line, and `missed` counts what misses its bar
figure_row() {
    local label=$1 value=$2 unit=$3 sense=${4-} bar=${5-} sign='' verdict='' shown=-
    [[ -z $value ]] || shown=$(awk -v v="$value" 'BEGIN { printf((v < 1000 && v > -1000) ? "%.3f" : "%.0f", v) }')
    if [[ -n $sense ]]; then
        [[ $sense == most ]] && sign="<= $bar" || sign=">= $bar"
        verdict=ok
        if [[ -z $value ]]; then
            verdict='not measured'
            ((missed += 1))
        elif ! awk -v v="$value" -v b="$bar" -v s="$sense" 'BEGIN { exit !(s == "most" ? v <= b : v >= b) }'; then
            verdict=MISSED
            ((missed += 1))
        fi
    fi
    printf '%-56s %10s %-10s %-9s %s\n' "$label" "$shown" "$unit" "$sign" "$verdict" | sed 's/ *$//'
}

busy_percent() {
    local before after
    before=$(awk '/^cpu /{print $2+$3+$4+$7+$8+$9, $5+$6}' /proc/stat)
    sleep 0.5
    after=$(awk '/^cpu /{print $2+$3+$4+$7+$8+$9, $5+$6}' /proc/stat)
    echo "$before $after" | awk '{b=$3-$1; i=$4-$2; print (b+i) ? int(100*b/(b+i)) : 0}'
}

# Spinning threads lose a hundredfold when another program takes a core: waits a little for a quiet machine, and says how
# busy it is still, in percent.
await_quiet() {
    local busy=0 try
    for try in 1 2 3 4 5; do
        busy=$(busy_percent)
        ((busy > 10)) || break
        ((try == 5)) || sleep 1
    done
    echo "$busy"
}
