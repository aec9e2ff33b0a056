import { flagName, isRepeatable, type Flag } from '../base/command-line/arguments.ts'
import type { Command } from '../base/command-line/command.ts'

const helpWidth = 80
const indent = '  '
const nameWidthMax = 24

/** Writes the help of one command. */
export function commandHelp(command: Command, width = helpWidth): string {
  const flags = Object.entries(command.flags)
  const positionals = command.arguments
  const sections = [
    `svc ${command.name}: ${command.summary}`,
    ['Usage: svc', command.name, ...(flags.length === 0 ? [] : ['[flags]']), positionals?.usage ?? '']
      .join(' ')
      .trimEnd(),
  ]
  if (positionals !== undefined) sections.push(`Arguments:\n${list([[positionals.usage, positionals.summary]], width)}`)
  const flagRows = flags.map(([name, flag]) => [flagUsage(name, flag), flagText(flag)] as const)
  sections.push(`Flags:\n${list([...flagRows, ['-h, --help', 'print this help']], width)}`)
  const exitCodes = Object.entries({ 0: 'done', 1: 'failed', 2: 'wrong usage or configuration', ...command.exitCodes })
  sections.push(`Exit codes:\n${list(exitCodes, width)}`)
  const examples = command.examples.map((example) => `${indent}${example.command}\n${indent}${indent}${example.does}`)
  if (examples.length > 0) sections.push(`Examples:\n${examples.join('\n')}`)
  return `${sections.join('\n\n')}\n`
}

/** Writes the help of `svc` itself. The first command runs when none is named. */
export function programHelp(commands: readonly Command[], width = helpWidth): string {
  const rows = commands.map(
    (command, index) =>
      [command.name, `${command.summary}${index === 0 ? ' (when no command is named)' : ''}`] as const,
  )
  return `${[
    'svc: one self-hosted chat-completions endpoint for every model',
    'Usage: svc [command] [flags]',
    `Commands:\n${list(rows, width)}`,
    `Flags:\n${list(
      [
        ['-h, --help', 'print the help of svc, or of a command'],
        ['-v, --version', 'print the version'],
      ],
      width,
    )}`,
    'A flag overrides its environment variable, which overrides a file, which overrides the default.',
    `'svc <command> --help' lists the flags of a command.`,
  ].join('\n\n')}\n`
}

function flagUsage(name: string, flag: Flag<unknown>): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `
  return `${short}${flagName(name)}${flag.placeholder === undefined ? '' : ` ${flag.placeholder}`}`
}

function flagText(flag: Flag<unknown>): string {
  const { summary, fallback, environment, otherwise, placeholder, choices } = flag
  const facts: string[] = []
  if (placeholder !== undefined && choices.length > 0) facts.push(choices.join(', '))
  if (isRepeatable(flag)) facts.push('may be repeated')
  if (otherwise !== undefined) facts.push(`default: ${otherwise}`)
  else if (typeof fallback === 'string' || typeof fallback === 'number') facts.push(`default: ${fallback}`)
  if (environment !== undefined) facts.push(`environment: ${environment}`)
  return facts.length === 0 ? summary : `${summary} (${facts.join('; ')})`
}

function list(rows: readonly (readonly [string, string])[], width: number): string {
  const nameWidth = Math.min(nameWidthMax, Math.max(...rows.map(([name]) => name.length)))
  const hang = ' '.repeat(indent.length + nameWidth + 2)
  return rows
    .map(([name, text]) => {
      const lines = wrap(text, width - hang.length)
      if (name.length > nameWidth) return [`${indent}${name}`, ...lines.map((line) => hang + line)].join('\n')
      return [
        `${indent}${name.padEnd(nameWidth)}  ${lines[0] ?? ''}`,
        ...lines.slice(1).map((line) => hang + line),
      ].join('\n')
    })
    .join('\n')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
