/** The command line that starts this program again: runtime, script and flags, or one executable and flags. */
export function ownCommand(): readonly string[] {
  const flags = process.argv.slice(2)
  return isCompiled() ? [process.execPath, ...flags] : [process.execPath, ...process.execArgv, Bun.main, ...flags]
}

/** A compiled program's script has a virtual path. */
function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || Bun.main.startsWith('B:\\~BUN\\')
}
