import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { programName } from '../app/package.ts'
import { booleanFlag, textFlag } from '../base/command-line/arguments.ts'
import type { Command, CommandContext } from '../base/command-line/command.ts'
import { harmless } from '../base/shown-text.ts'
import { UsageError } from '../base/start-errors.ts'
import { withKey } from '../config/edit/keys-env.ts'
import { writeConfig } from '../config/edit/write-config.ts'
import { readConfigText } from '../config/file/read-text.ts'
import { accessFile, findHome } from '../config/home.ts'
import type { Emitted } from '../config/import/emit.ts'
import type { Finding } from '../config/import/findings.ts'
import type { Imported } from '../config/import/import-file.ts'
import { importSources } from '../config/import/import-list.ts'
import { jsonFlag } from './flags.ts'

const flags = {
  output: textFlag('file to write; - prints it', 'FILE', { otherwise: '~/.svc/providers.json' }),
  report: textFlag('file for the findings, as JSON', 'FILE', { otherwise: 'none' }),
  json: jsonFlag,
  withKeys: booleanFlag('write keys that stand in the file into ~/.svc/keys.env'),
  force: booleanFlag('replace existing files'),
  strict: booleanFlag('write nothing unless all findings are exact'),
}

type Context = CommandContext<typeof flags>

const names = importSources.map(({ name }) => name)

/** `svc import` (docs/commands.md). */
export const importCommand: Command<typeof flags> = {
  name: 'import',
  summary: 'write providers.json from the configuration of another gateway',
  flags,
  arguments: {
    usage: '[SOURCE] FILE',
    summary: `the file, - for the input; its shape decides unless SOURCE is one of ${names.join(', ')}`,
    words: names,
    maximum: 2,
  },
  examples: [
    {
      command: 'svc import litellm config.yaml',
      does: 'writes ~/.svc/providers.json, and says what became of each setting',
    },
    { command: 'svc import config.yaml --output -', does: 'prints providers.json, writes nothing' },
    { command: 'svc import config.yaml --strict --report report.json', does: 'for scripts: fails unless all is exact' },
  ],
  exitCodes: { 1: 'nothing that svc can use, a file already exists, or with --strict: a finding is not exact' },
  run: runImport,
}

async function runImport(context: Context): Promise<number> {
  const { flags, stdout, stderr, environment } = context
  const imported = await read(context)
  const { files, findings } = imported
  const report = { ...reportOf(imported), variables: files === undefined ? [] : unset(files, context) }
  const say = (text: string) => stderr.write(`svc: ${harmless(text)}\n`)
  if (flags.json) stdout.write(`${JSON.stringify(report)}\n`)
  else {
    stderr.write(findings.map((finding) => `${harmless(lineOf(finding))}\n`).join(''))
    sayTotals(imported, report.variables, say)
  }
  const isRefused = flags.strict && !isExact(imported)
  if (isRefused) say('nothing is written: with --strict all must be exact')
  const emitted = isRefused ? undefined : files
  const written = await filesToWrite(`${JSON.stringify(report, undefined, 2)}\n`, emitted, context)
  const present = written.filter(({ path, isKept }) => isKept !== true && existsSync(path)).map(({ path }) => path)
  if (present.length > 0 && !flags.force) {
    say(`${present.join(', ')} already exists; --force replaces it`)
    return 1
  }
  for (const { path, text } of written) await writeConfig(path, text)
  if (written.length > 0) say(`written: ${written.map(({ path }) => path).join(', ')}`)
  if (emitted === undefined) return 1
  if (flags.output !== '-') say(`Next: ${programName(environment)} check`)
  else if (!flags.json) stdout.write(emitted.providers)
  return 0
}

/** All values are written as they were, and each account once. */
function isExact({ counts, findings, files }: Imported): boolean {
  return counts.exact === findings.length && files?.split.length === 0
}

/** @throws {UsageError} without a file that can be read, or for an unknown source */
async function read({ positionals, stdin }: Context): Promise<Imported> {
  const [first = '', second] = positionals
  const source = second === undefined ? undefined : importSources.find(({ name }) => name === first)
  if (second !== undefined && source === undefined)
    throw new UsageError(`unknown source ${JSON.stringify(first)}: the sources are ${names.join(', ')}`)
  const file = second ?? first
  if (file === '' || names.includes(file)) throw new UsageError('name the file that is imported, or - for the input')
  const { importFile, UnknownSource } = await import('../config/import/import-file.ts')
  const isInput = file === '-'
  const text = isInput ? await stdin.text() : await readConfigText(file)
  if (text === undefined) throw new UsageError(`${harmless(file)} does not exist`)
  try {
    return await importFile(text, {
      file: isInput ? 'the input' : basename(file),
      source,
      readBeside: async (name) => (isInput ? undefined : await readConfigText(join(dirname(file), name))),
    })
  } catch (error) {
    throw error instanceof UnknownSource ? new UsageError(harmless(error.message), { cause: error }) : error
  }
}

interface WrittenFile {
  readonly path: string
  readonly text: string
  /** Its other lines stay. */
  readonly isKept?: true
}

/** The report, providers.json, access.json beside it, and keys.env. */
async function filesToWrite(
  report: string,
  emitted: Emitted | undefined,
  { flags, environment }: Context,
): Promise<readonly WrittenFile[]> {
  const files: WrittenFile[] = flags.report === undefined ? [] : [{ path: flags.report, text: report }]
  if (emitted === undefined || flags.output === '-') return files
  const home = findHome(environment)
  const path = flags.output ?? home.providers
  files.push({ path, text: emitted.providers })
  const beside = flags.output === undefined ? accessFile(environment) : join(dirname(path), 'access.json')
  if (emitted.access !== undefined && beside !== undefined) files.push({ path: beside, text: emitted.access })
  if (!flags.withKeys || emitted.keys.size === 0) return files
  let text = await readConfigText(home.keysEnv)
  for (const [variable, key] of emitted.keys) text = withKey(text, { variable, key })
  return [...files, { path: home.keysEnv, text: text ?? '', isKept: true }]
}

/** The variables of the files that are not set, unless their keys are written. */
function unset({ variables, keys }: Emitted, { flags, environment }: Context): readonly string[] {
  return variables.filter((name) => (environment[name] ?? '') === '' && !(flags.withKeys && keys.has(name)))
}

function reportOf({ source, findings, counts, files }: Imported): object {
  return { source, findings, counts, ...(files === undefined ? {} : { split: files.split }) }
}

/** `exact model_list[3].model_name (line 41) → providers[2].models[0]` */
function lineOf({ status, path, line, file, target, message }: Finding): string {
  const place = `${path === '' ? 'the file' : path} (${file === undefined ? '' : `${file}, `}line ${line})`
  const where = `${status.padEnd(12)} ${place}${target === undefined ? '' : ` → ${target}`}`
  return message === undefined ? where : `${where}: ${message}`
}

function sayTotals(
  { counts, files, source }: Imported,
  variables: readonly string[],
  say: (text: string) => void,
): void {
  const { exact, approximate, manual, unsupported } = counts
  say(`${exact} exact, ${approximate} approximate, ${manual} by hand, ${unsupported} not at all`)
  if (files === undefined) return say(`the file has no provider that svc can use, as a configuration of ${source}`)
  for (const ids of files.split)
    say(`approximate: ${ids} are one account, since names want it at different places. Each counts its failures alone`)
  if (variables.length > 0) say(`variables to set: ${variables.join(', ')}`)
}
