import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { checkoutOf } from '../checkout.ts'
import { diskBytes, type Installed } from '../installed.ts'
import { installOnce, peerFolder } from '../peers-folder.ts'
import { runProgram, startProgram } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'

const name = 'aisix'
const target = join(peerFolder(name), '.target')
const executable = join(target, 'release/aisix')
const callerKey = 'key-for-tests'
/** Its release profile has link-time optimization over all crates, which takes long on few cores. */
const buildLimitMs = 90 * 60_000

/**
 * AISIX (github.com/api7/aisix), built from the checkout that `AISIX_SRC` names. Cargo's own variables shorten the
 * build: `CARGO_PROFILE_RELEASE_LTO=off`; `RUSTUP_TOOLCHAIN` takes another compiler.
 */
export const aisix: Proxy = {
  name,
  kind: 'gateway',
  setup:
    'built from source (`AISIX_SRC`) without default features, a resources file, one worker as it has one core, ' +
    'no access log; it has no mode without a caller key, and checks one',
  needs: ['cargo'],
  async prepare() {
    const { folder, commit } = await checkoutOf('AISIX_SRC')
    await installOnce(name, buildName(commit), () =>
      runProgram(
        ['nice', 'cargo', 'build', '--release', '--locked', '-p', 'aisix-server', '--no-default-features'],
        buildLimitMs,
        { directory: folder, environment: { CARGO_TARGET_DIR: target } },
      ),
    )
  },
  version: async () => buildName((await checkoutOf('AISIX_SRC')).commit),
  installed,
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const resources = join(directory, 'resources.yaml')
    // YAML includes JSON.
    await Bun.write(resources, JSON.stringify(resourcesOf(upstreamPort)))
    const config = join(directory, 'config.yaml')
    await Bun.write(config, JSON.stringify(configuration(port, resources)))
    const environment = { BENCH_CALLER_KEY: callerKey }
    const command = [executable, '--config', config]
    return {
      program: startProgram({ name, command, core, directory, environment }, register),
      port,
      headers: { authorization: `Bearer ${callerKey}` },
    }
  },
}

/** Name of a build: its commit, and whether it lacks optimization that its release has. */
function buildName(commit: string): string {
  const lto = process.env['CARGO_PROFILE_RELEASE_LTO']
  return `aisix/${commit}${lto === undefined ? '' : `, LTO ${lto}`}`
}

function configuration(port: number, resources: string): Readonly<Record<string, unknown>> {
  return {
    resources_file: resources,
    proxy: { addr: `127.0.0.1:${port}` },
    admin: { enabled: false },
    observability: {
      log_level: 'error',
      access_log: false,
      metrics: { prometheus: { enabled: true, addr: `127.0.0.1:${freePort()}` } },
    },
  }
}

function resourcesOf(upstreamPort: number): Readonly<Record<string, unknown>> {
  const base = `http://127.0.0.1:${upstreamPort}/v1`
  return {
    _format_version: '1',
    provider_keys: [
      { display_name: 'mock', provider: 'openai', adapter: 'openai', api_base: base, api_key: 'key-for-tests' },
    ],
    models: [{ display_name: modelName, provider: 'openai', model_name: modelName, provider_key: 'mock' }],
    api_keys: [{ display_name: 'bench', key_env: 'BENCH_CALLER_KEY', allowed_models: ['*'] }],
  }
}

async function installed(): Promise<Installed> {
  const { folder } = await checkoutOf('AISIX_SRC')
  const tree = [
    'cargo',
    'tree',
    '--locked',
    '-p',
    'aisix-server',
    '--no-default-features',
    '-e',
    'normal',
    '--prefix',
    'none',
  ]
  const lines = await runProgram([...tree, '--no-dedupe'], 120_000, { directory: folder })
  const crates = new Set(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
  )
  return { bytes: await diskBytes([executable]), runtimeBytes: 0, dependencies: crates.size - 1 }
}
