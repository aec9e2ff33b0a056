/** What starts this program again as it was started: a runtime and its script, or one executable that holds both. */
export function ownCommand(): readonly string[] {
  const flags = process.argv.slice(2)
  return isCompiled() ? [process.execPath, ...flags] : [process.execPath, ...process.execArgv, Bun.main, ...flags]
}

/** The script of a compiled program lies in no folder of this machine. */
function isCompiled(): boolean {
  return Bun.main.startsWith('/$bunfs/') || Bun.main.startsWith('B:\\~BUN\\')
}
