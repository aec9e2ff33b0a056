import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import manifest from '../../package.json'
import { readTimers } from '../../src/app/timers.ts'
import { portFlag } from '../../src/cli/flags.ts'
import { parseConfig } from '../../src/config/file/parse-config.ts'
import { statusRoutes } from '../../src/http/status-routes.ts'
import { pick } from '../client.ts'
import { refusals, ways } from './values.ts'

/** The chart and the compose file against facts of the service, and what Helm makes of them where it is installed. */

const root = join(import.meta.dir, '..', '..')
const chart = join(root, 'examples', 'chart')
const textOf = (...path: readonly string[]) => readFileSync(join(root, ...path), 'utf8')
const values: unknown = Bun.YAML.parse(textOf('examples', 'chart', 'values.yaml'))
const compose = pick(Bun.YAML.parse(textOf('examples', 'compose.yaml')), 'services', 'svc')
const { drainMs } = readTimers({})
const graceOf = (ms: number) => Math.ceil(ms / 1000) + 10

describe('examples/chart', () => {
  const isValid = new Ajv({ strict: false }).compile(JSON.parse(textOf('examples', 'chart', 'values.schema.json')))

  test('has the version of package.json', () => {
    expect(Bun.YAML.parse(textOf('examples', 'chart', 'Chart.yaml'))).toMatchObject({
      version: manifest.version,
      appVersion: manifest.version,
      description: manifest.description,
    })
  })

  test('has a schema for all its values, and for no others', () => {
    expect(isValid(values), JSON.stringify(isValid.errors)).toBe(true)
    const schema: unknown = JSON.parse(textOf('examples', 'chart', 'values.schema.json'))
    const named = Object.keys(Object(pick(schema, 'properties')))
    expect(named.filter((name) => name !== 'global').toSorted()).toEqual(Object.keys(Object(values)).toSorted())
    expect(isValid({ ...Object(values), replicas: 2 })).toBe(false)
    expect(isValid({ ...Object(values), auth: ['key'] })).toBe(false)
    for (const way of Object.values(ways)) expect(isValid(way), JSON.stringify(isValid.errors)).toBe(true)
  })

  test('drains as long as svc does by itself, and names only variables of svc', () => {
    expect(pick(values, 'drain', 'ms')).toBe(drainMs)
    const templates = readdirSync(join(chart, 'templates')).map((name) => textOf('examples/chart/templates', name))
    const used = [...templates, textOf('examples', 'compose.yaml')].join('\n').match(/\bSVC_(?!IMAGE)\w+/g) ?? []
    const documented = textOf('docs', 'commands.md') + textOf('docs', 'configuration.md')
    expect(used.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
    expect(used.length).toBeGreaterThan(8)
  })
})

test('examples/compose.yaml waits for the drain, and is closed as the chart is', () => {
  expect(compose).toMatchObject({
    stop_grace_period: `${graceOf(drainMs)}s`,
    ports: [`127.0.0.1:${portFlag.fallback}:${portFlag.fallback}`],
    user: '10001:10001',
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    healthcheck: { test: ['CMD', '/usr/local/bin/svc', 'health'] },
  })
})

const helm = Bun.which('helm')

describe.skipIf(helm === null)('examples/chart, by helm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-chart-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** Renders the chart. Helm without a cluster takes the version of Kubernetes from its flag. */
  async function render(given: object) {
    const file = join(folder, `${crypto.randomUUID()}.json`)
    writeFileSync(file, JSON.stringify(given))
    const command = [helm ?? '', 'template', 'try', chart, '--kube-version', '1.33.0', '--values', file]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
    const [code, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()])
    return { code, out, err }
  }

  const made = new Map<string, readonly unknown[]>()
  beforeAll(async () => {
    for (const [name, given] of Object.entries(ways)) {
      const { code, out, err } = await render(given)
      expect([name, code, code === 0 ? '' : err]).toEqual([name, 0, ''])
      const parsed = Bun.YAML.parse(out)
      made.set(name, Array.isArray(parsed) ? parsed : [parsed])
      if (process.env['SVC_CHART_OUT'] !== undefined)
        writeFileSync(join(process.env['SVC_CHART_OUT'], `${made.size}.yaml`), out)
    }
  }, 30_000)

  const of = (way: keyof typeof ways, kind: string) => made.get(way)?.find((object) => pick(object, 'kind') === kind)
  const kinds = (way: keyof typeof ways) => (made.get(way) ?? []).map((object) => pick(object, 'kind'))

  test('passes helm lint --strict', async () => {
    const file = join(folder, 'lint.json')
    writeFileSync(file, JSON.stringify(ways['two replicas with keys']))
    const command = [helm ?? '', 'lint', '--strict', chart, '--kube-version', '1.33.0', '--values', file]
    const lint = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
    expect([await lint.exited, await lint.stdout.text()]).toEqual([0, expect.stringContaining('0 chart(s) failed')])
  })

  test.each(Object.keys(ways) as (keyof typeof ways)[])('makes closed pods with probes: %s', (way) => {
    const pod = pick(of(way, 'Deployment'), 'spec', 'template', 'spec')
    const given: object = ways[way]
    const drain = Number(pick(given, 'drain', 'ms') ?? drainMs)
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: graceOf(drain),
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(pick(pod, 'containers', 0)).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      ports: expect.arrayContaining([{ name: 'http', containerPort: portFlag.fallback }]),
      livenessProbe: { httpGet: { path: '/health', port: 'http' }, periodSeconds: 10, failureThreshold: 6 },
      readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1, failureThreshold: 1 },
    })
    const secrets = JSON.stringify(pod).match(/"secretName":"[^"]+"|"secretKeyRef":\{[^}]+"name":"[^"]+"/g) ?? []
    expect(secrets.filter((secret) => !secret.endsWith('"svc-keys"'))).toEqual([])
    const config = pick(of(way, 'ConfigMap'), 'data', 'providers.json')
    if (typeof config === 'string')
      expect(parseConfig(config, { file: 'providers.json', environment: {} }).providers).toHaveLength(1)
    else expect(way).toBe('everything of its own')
  })

  test('asks the paths that svc has', () => {
    const paths = statusRoutes({
      unready: () => undefined,
      metrics: async () => '',
      isOwner: () => true,
      page: async () => new Response(),
    }).map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['/health', '/ready', '/metrics']))
  })

  test('makes the objects of each way', () => {
    const usual = ['ConfigMap', 'Deployment', 'Service', 'ServiceAccount']
    const more: Readonly<Partial<Record<keyof typeof ways, readonly string[]>>> = {
      'two replicas with keys': ['PodDisruptionBudget'],
      'one replica with a volume': ['PersistentVolumeClaim'],
      'sign-in behind an Ingress': ['Ingress'],
      'a Gateway': ['HTTPRoute'],
      'as many replicas as are needed, in a closed network': [
        'HorizontalPodAutoscaler',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'ServiceMonitor',
      ],
      Prometheus: ['ServiceMonitor'],
    }
    for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
      const own = way === 'everything of its own'
      const expected = own ? ['Deployment', 'PodDisruptionBudget', 'Service'] : [...usual, ...(more[way] ?? [])]
      expect([way, kinds(way).toSorted()]).toEqual([way, expected.toSorted()])
    }
  })

  test('has metrics at a port of their own, or behind a key', () => {
    const endpoint = (way: keyof typeof ways) => pick(of(way, 'ServiceMonitor'), 'spec', 'endpoints', 0)
    const own = 'as many replicas as are needed, in a closed network'
    expect(endpoint(own)).toEqual({ port: 'metrics', path: '/metrics', interval: '30s' })
    expect(JSON.stringify(of(own, 'Deployment'))).toContain('"SVC_METRICS_PORT","value":"0.0.0.0:9464"')
    expect(pick(of(own, 'NetworkPolicy'), 'spec', 'ingress')).toMatchObject([
      { ports: [{ port: portFlag.fallback }], from: [{}] },
      { ports: [{ port: 9464 }], from: [{}] },
    ])
    const credentials = { name: 'svc-metrics', key: 'key' }
    expect(endpoint('Prometheus')).toMatchObject({ port: 'http', authorization: { credentials } })
  })

  test('follows files, unless they are beside a volume', () => {
    for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
      const template = JSON.stringify(of(way, 'Deployment'))
      const isBeside = way === 'one replica with a volume'
      expect([way, template.includes('"subPath"'), template.includes('checksum/')]).toEqual([way, isBeside, isBeside])
      expect(template).toContain(isBeside ? '"Recreate"' : '"maxUnavailable":0')
      // The copy of PostgreSQL's keys needs a place, and the folder of files is read-only.
      expect(template.includes('"SVC_CACHE","value":"/cache"')).toBe(!isBeside)
    }
  })

  test.each(refusals)('refuses: %s', async (reason, given) => {
    const { code, err } = await render(given)
    expect([code, err]).toEqual([1, expect.stringContaining(reason)])
  })
})
