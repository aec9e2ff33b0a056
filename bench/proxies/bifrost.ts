import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { goInstalled } from '../installed.ts'
import { installOnce, peerFolder } from '../peers-folder.ts'
import { runProgram, startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

const name = 'bifrost'
const moduleName = 'github.com/maximhq/bifrost/transports'
const executable = join(peerFolder(name), '.go/bin/bifrost-http')
const limitMs = 15 * 60_000

/** Bifrost from its Go module, configured by a file: without stores for configuration or logs, without downloads. */
export const bifrost: Proxy = {
  name,
  kind: 'gateway',
  setup:
    'Go module, `config_store` and logging off, provider `openai` with its own `base_url`, ' +
    '`GOMAXPROCS=1` as it has one core',
  needs: ['go'],
  prepare: () => installOnce(name, `${moduleName}@latest`, build),
  async version() {
    const about = await runProgram(['go', 'version', '-m', executable], 30_000)
    const version = /^\tdep\tgithub\.com\/maximhq\/bifrost\/core\t(\S+)/m.exec(about)?.[1] ?? '?'
    return `bifrost/core ${version} (${/go\d[\d.]*/.exec(about)?.[0] ?? 'go'})`
  },
  installed: () => goInstalled(executable),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const prices = join(directory, 'prices.json')
    await Bun.write(prices, '{}')
    await Bun.write(join(directory, 'config.json'), JSON.stringify(configuration(upstreamPort, prices)))
    const options = ['-app-dir', directory, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error']
    const program = startProgram(
      { name, command: [executable, ...options], core, directory, environment: { GOMAXPROCS: '1' } },
      register,
    )
    // The OpenAI-compatible path takes a model without a provider prefix.
    return { program, port, headers: {}, path: '/openai/v1/chat/completions' }
  },
}

/**
 * Fetches and builds the module. `go install` fails: the module embeds the folder of its web interface, which it lacks.
 * The build gets an empty folder.
 */
async function build(folder: string): Promise<void> {
  const environment = { GOPATH: join(folder, '.go'), GOFLAGS: '-modcacherw -buildvcs=false' }
  const place = { environment, directory: folder }
  await runProgram(['go', 'mod', 'download', `${moduleName}@latest`], limitMs, place)
  const source = (
    await runProgram(['go', 'list', '-m', '-f', '{{.Dir}}', `${moduleName}@latest`], limitMs, place)
  ).trim()
  const copy = join(folder, '.source')
  cpSync(source, copy, { recursive: true })
  const page = join(copy, 'bifrost-http/ui')
  mkdirSync(page, { recursive: true })
  if (!existsSync(join(page, 'index.html'))) writeFileSync(join(page, 'index.html'), '')
  await runProgram(['go', 'build', '-o', executable, './bifrost-http'], limitMs, { environment, directory: copy })
}

function configuration(upstreamPort: number, prices: string): Readonly<Record<string, unknown>> {
  const network = {
    base_url: `http://127.0.0.1:${upstreamPort}`,
    allow_private_network: true,
    default_request_timeout_in_seconds: 600,
    max_retries: 0,
  }
  return {
    config_store: { enabled: false },
    logs_store: { enabled: false },
    // Without this it fetches lists of prices and models, at the start and later.
    framework: {
      pricing: {
        pricing_url: `file://${prices}`,
        model_parameters_url: `file://${prices}`,
        mcp_library_sync_interval: 0,
        live_models_sync_interval: 0,
      },
    },
    client: { drop_excess_requests: false, enable_logging: false },
    providers: {
      openai: {
        keys: [{ name: 'mock', value: 'key-for-tests', models: ['*'], weight: 1 }],
        network_config: network,
      },
    },
  }
}
