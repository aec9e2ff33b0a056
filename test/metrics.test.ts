import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dashboard from '../examples/grafana-dashboard.json' with { type: 'json' }
import { isRecord } from '../src/base/json-value.ts'
import { chat, question } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { good } from './fakes/good.ts'
import { ownedProcess } from './fakes/owned-process.ts'
import { reply } from './fakes/replies.ts'
import { provider, startService } from './harness.ts'
import { needs } from './needs.ts'
import { freePort } from './ports.ts'

const promtool = needs('promtool')
const prometheus = needs('prometheus')
const rules = join(import.meta.dir, '..', 'examples', 'prometheus-rules.yaml')
const panels = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

/** Runs a command to its end. @returns what it printed @throws if it fails */
async function run(command: readonly string[], input = ''): Promise<string> {
  const child = Bun.spawn([...command], { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' })
  const [out, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command.join(' ')}: ${out}${errors}`)
  return out + errors
}

/** A service under load: streams that answer after a failed attempt, requests that all providers fail, and a budget. */
async function loadedService() {
  const cached = {
    prompt_tokens: 8,
    completion_tokens: 4,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 6 },
  }
  const answering = faultUpstream(good({ tokens: 4, top: { usage: cached } }))
  const failing = faultUpstream((exchange) => exchange.write(reply(500, '{}')))
  const price = { input: 1, output: 2 }
  const service = await startService(
    {
      providers: [
        provider('failing', failing.url, ['m', 'other']),
        provider('answering', answering.url, ['m'], { price }),
      ],
    },
    {
      flags: ['--metrics-port', '0'],
      files: { 'access.json': JSON.stringify({ limits: [{ for: 'everyone', usd: 20, per: 'month' }] }) },
    },
  )
  return {
    service,
    async ask() {
      for (const model of ['m', 'other']) await chat(service.url, question({ model, stream: true }))
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      answering.stop()
      failing.stop()
    },
  }
}

test.skipIf(promtool === undefined || prometheus === undefined)(
  'metrics on a port of their own are well-formed; each query of the examples has data, and the rules are valid',
  async () => {
    const port = freePort()
    await using load = await loadedService()
    await load.ask()
    const [, metricsPort] = /^Metrics are on http:\/\/127\.0\.0\.1:(\d+)\/metrics$/m.exec(load.service.output) ?? []
    const address = `http://127.0.0.1:${metricsPort}`
    const text = await (await fetch(`${address}/metrics`)).text()
    expect(text).toContain('svc_budget_used_ratio{for="everyone",per="month",models=""} ')
    await run([promtool ?? '', 'check', 'metrics'], text)
    await run([promtool ?? '', 'check', 'rules', rules])
    const others = ['/', '/health', '/v1/models', '/api/requests'].map(
      async (path) => (await fetch(address + path)).status,
    )
    expect(await Promise.all(others)).toEqual([404, 404, 404, 404])

    const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'))
    const config = join(folder, 'prometheus.yml')
    await Bun.write(
      config,
      `global: { scrape_interval: 250ms, evaluation_interval: 250ms }
rule_files: ['${rules}']
scrape_configs: [{ job_name: svc, static_configs: [{ targets: ['127.0.0.1:${metricsPort}'] }] }]
`,
    )
    const flags = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    const child = Bun.spawn([prometheus ?? '', ...flags], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
    const end = ownedProcess(child, folder)
    const queries = [
      ...panels,
      ...['requests_failed:ratio5m', 'attempts_failed:ratio5m', 'first_token_seconds:p95_5m', 'lost:increase15m'].map(
        (name) => ({ title: name, expr: `svc:${name}` }),
      ),
    ]
    try {
      let empty = queries
      for (const deadline = performance.now() + 20_000; empty.length > 0 && performance.now() < deadline;) {
        await load.ask()
        await Bun.sleep(200)
        const found = await Promise.all(empty.map(async ({ expr }) => countOf(port, expr)))
        empty = empty.filter((_, index) => found[index] === 0)
      }
      expect(empty).toEqual([])
    } finally {
      await end()
    }
  },
  60_000,
)

/** The number of series that a query has now, without those that are no number. */
async function countOf(port: number, expr: string): Promise<number> {
  const query = encodeURIComponent(expr.replaceAll('$__rate_interval', '1m'))
  const answer: unknown = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${query}`)
    .then((response) => response.json())
    .catch(() => undefined)
  const data = isRecord(answer) && isRecord(answer['data']) ? answer['data']['result'] : undefined
  if (!Array.isArray(data)) return 0
  return data.filter((each) => isRecord(each) && Array.isArray(each['value']) && each['value'][1] !== 'NaN').length
}
