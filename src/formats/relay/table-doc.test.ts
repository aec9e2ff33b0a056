import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerBytesDefault } from '../format.ts'
import type { RelayEndpoint } from './endpoint.ts'
import { relayEndpoints } from './table.ts'

const document = readFileSync(join(import.meta.dir, '../../../docs/api.md'), 'utf8')
const code = (text: string) => `\`${text}\``
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`

function requiredOf({ request }: RelayEndpoint): string {
  const names = request.kind === 'json' ? request.required.map((name) => [name]) : request.required
  return names.map((each) => each.map(code).join(' or ')).join(', ')
}

function answerOf({ answer, media }: RelayEndpoint): string {
  if (answer === undefined) return 'sound, as it arrives'
  const entries = Object.keys(answer.entries ?? {})
    .map(code)
    .join(' or ')
  const { member, values } = media?.asked ?? { member: '', values: [] }
  const text = values.length === 0 ? '' : `; plain text with ${code(member)} ${values.map(code).join(', ')}`
  return `${code(answer.member)}${entries === '' ? '' : ` with ${entries}`}${text}`
}

function limitsOf({ answerBytesMax = answerBytesDefault, requestBytesMax }: RelayEndpoint): string {
  const request = requestBytesMax === undefined ? '' : `; request ${mebibytes(requestBytesMax)}`
  return `${mebibytes(answerBytesMax)}${request}`
}

/** The row of an endpoint in docs/api.md. */
function rowOf(endpoint: RelayEndpoint): string {
  const { path, request, defaultModel, stream, needsSameModel, stopsInDoubt } = endpoint
  const cells = [
    code(path),
    request.kind === 'json' ? 'JSON' : 'form',
    requiredOf(endpoint),
    defaultModel === undefined ? 'refused' : code(defaultModel),
    answerOf(endpoint),
    stream === undefined ? 'no' : code(`${stream.member}: ${stream.value}`),
    needsSameModel ? 'same model' : stopsInDoubt === true ? 'not in doubt' : 'as for chat',
    limitsOf(endpoint),
  ]
  return `| ${cells.join(' | ')} |`
}

test.each(Object.values(relayEndpoints).map((endpoint) => [endpoint.path, endpoint] as const))(
  'docs/api.md says of %s what the table has',
  (path, endpoint) => {
    const rows = document.split('\n').filter((line) => line.startsWith(`| \`${path}\` |`))
    expect(rows).toEqual([rowOf(endpoint)])
  },
)
