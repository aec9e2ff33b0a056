import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { checkoutOf } from '../checkout.ts'
import { goInstalled } from '../installed.ts'
import { installOnce, peerFolder } from '../peers-folder.ts'
import { runProgram, startProgram } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'

const name = 'gomodel'
const executable = join(peerFolder(name), '.go/gomodel')
const buildLimitMs = 15 * 60_000

/** GoModel (github.com/ENTERPILOT/GoModel), built from the checkout that `GOMODEL_SRC` names. */
export const gomodel: Proxy = {
  name,
  kind: 'gateway',
  setup:
    'built from source (`GOMODEL_SRC`), provider `openai` with its own base URL and a list of models, ' +
    'no usage store, no audit log, no administration, no retries, a breaker that stays closed, ' +
    '`GOMAXPROCS=1` as it has one core',
  needs: ['go'],
  async prepare() {
    const { folder, commit } = await checkoutOf('GOMODEL_SRC')
    await installOnce(name, `gomodel-${commit}`, () =>
      runProgram(['nice', 'go', 'build', '-o', executable, './cmd/gomodel'], buildLimitMs, { directory: folder }),
    )
  },
  async version() {
    const { commit } = await checkoutOf('GOMODEL_SRC')
    const about = await runProgram(['go', 'version', executable], 30_000)
    return `gomodel/${commit} (${/go\d[\d.]*/.exec(about)?.[0] ?? 'go'})`
  },
  installed: () => goInstalled(executable),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    const environment = {
      PORT: String(port),
      GOMAXPROCS: '1',
      LOG_LEVEL: 'error',
      OPENAI_API_KEY: 'key-for-tests',
      OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
      OPENAI_MODELS: modelName,
      CONFIGURED_PROVIDER_MODELS_MODE: 'allowlist',
      // Without this it fetches a list of models at its start.
      MODEL_LIST_URL: '',
      RETRY_MAX_RETRIES: '0',
      // It counts clients that leave as failures of the provider: the end of each load would open the breaker.
      CIRCUIT_BREAKER_FAILURE_THRESHOLD: '1000000',
      LOGGING_ENABLED: 'false',
      USAGE_ENABLED: 'false',
      ENFORCE_RETURNING_USAGE_DATA: 'false',
      ADMIN_ENDPOINTS_ENABLED: 'false',
      ADMIN_UI_ENABLED: 'false',
    }
    return {
      program: startProgram({ name, command: [executable], core, directory, environment }, register),
      port,
      headers: {},
    }
  },
}
