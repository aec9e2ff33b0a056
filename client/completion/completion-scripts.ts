/** Shells whose completion is known. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Printed in place of words when names of files complete the line. */
export const filesMark = ':files'

/**
 * A script for each shell. It passes the words of the command line to `svc completion SHELL -- WORDS…`, so that it need
 * not change with the commands.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  // Bash divides words at colons and equals signs, too, and replaces only the text after them.
  bash: `# Completion of svc for bash. In ~/.bashrc: source <(svc completion bash)
_svc() {
  local line typed cut words
  line=\${COMP_LINE:0:COMP_POINT}
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  typed=\${words[-1]}
  cut=\${typed%"\${typed##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ${filesMark} ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${line#"$cut"}")
    fi
  done < <(svc completion bash -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _svc svc
`,
  zsh: `#compdef svc
# Completion of svc for zsh. In ~/.zshrc, after compinit: source <(svc completion zsh)
_svc() {
  local -a found
  found=(\${(f)"$(svc completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if [[ \${found[1]} == ${filesMark} ]]; then
    compset -P '-*='
    _files
  else
    compadd -- "\${found[@]}"
  fi
}
compdef _svc svc
`,
  fish: `# Completion of svc for fish. In ~/.config/fish/config.fish: svc completion fish | source
function __svc_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (svc completion fish -- $words[2..] 2>/dev/null)
  if test "$found[1]" = ${filesMark}
    set -l before (string match -r '^-[^=]*=' -- $words[-1])
    set -l path (string replace -r '^-[^=]*=' '' -- $words[-1])
    printf '%s\\n' "$before"(__fish_complete_path $path)
  else
    printf '%s\\n' $found
  end
end
complete -c svc -f -a '(__svc_complete)'
`,
}
