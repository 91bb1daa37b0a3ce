# fish completion for reeve. In ~/.config/fish/config.fish: reeve completion fish | source
#
# What was typed is passed on as arguments and never evaluated. May be sourced again.

function __reeve_complete
    set -l current (commandline --current-token --cut-at-cursor)
    set -l typed (commandline --tokenize --cut-at-cursor --current-process)
    set -l answer (@reeve@ complete -- $typed[2..-1] "$current" 2>/dev/null)
    set -l option (string match --regex -- '^--[a-z-]+=' "$current"; or echo '')
    set -l path (string replace --regex -- '^--[a-z-]+=' '' "$current")
    switch "$answer[1]"
        case file
            __fish_complete_path "$path" | string replace --regex -- '^' "$option"
        case directory
            __fish_complete_directories "$path" '' | string replace --regex -- '^' "$option"
        case '*'
            test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
    end
end

complete --command reeve --erase
complete --command reeve --no-files --keep-order --arguments '(__reeve_complete)'
