import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { gatewayMetrics } from './gateway-metrics.ts'
import { lateMetrics } from './late-metrics.ts'
import { logger, logLevels } from './log.ts'
import type { RequestRecord } from './record.ts'
import { requestLog } from './request-line.ts'

const document = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')

function rows(heading: string): readonly (readonly string[])[] {
  const section = document.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  const lines = section.split('\n').filter((line) => line.startsWith('| `'))
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

const record: Required<
  Omit<RequestRecord, 'listedAs' | 'upstream' | 'line' | 'team' | 'unrecorded' | 'person' | 'settings'>
> = {
  time: 0,
  id: 'r',
  trace: { id: '0af7651916cd43dd8448eb211c80319c', isSampled: false },
  model: 'm',
  api: 'chat',
  stream: true,
  status: 502,
  error: 'provider_error',
  provider: 'groq',
  trail: [{ name: 'groq', status: 429, failure: 'rate_limit', ms: 12 }],
  firstTokenMs: 1,
  totalMs: 2,
  usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3, isEstimated: true },
  served: 'n',
  isOtherModel: true,
  cost: { nanoUsd: 5_300_000, source: 'config', isOfServed: true, savedNanoUsd: 1_000 },
  user: 'ada',
  session: 'ses_1',
  waitedMs: 1,
  limits: [{ met: 'waited', for: 'everyone', kind: 'at_once', limit: 8 }],
}

describe('docs/observability.md', () => {
  test('lists each field of a request line, in its order', async () => {
    let line = ''
    const log = logger({
      level: 'info',
      format: 'json',
      write: async (text) => {
        line += text
      },
    })
    requestLog(log)(record)
    await log.flush()
    const parsed: Record<string, unknown> = JSON.parse(line)
    expect(rows('Request lines').map(([name]) => name)).toEqual(Object.keys(parsed))
  })

  test('lists each metric with its kind, labels and meaning', () => {
    const listed = rows('Metrics').map(([name, kind, labels, help]) => ({
      name,
      kind,
      labels: labels === '' ? [] : labels?.split(' '),
      help,
    }))
    expect(listed).toEqual(
      [...gatewayMetrics({ version: '1' }).metrics, ...lateMetrics].map(({ name, kind, labels, help }) => ({
        name,
        kind,
        labels: [...labels],
        help,
      })),
    )
  })

  test('names each log level', () => {
    expect(rows('Log').map(([level]) => level)).toEqual([...logLevels])
  })
})
