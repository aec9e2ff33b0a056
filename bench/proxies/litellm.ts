import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { pythonInstalled } from '../installed.ts'
import { startProgram } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'
import { installPythonPeer, pythonPeerVersion, venvOf } from './python-peer.ts'

const name = 'litellm'

/**
 * The proxy of LiteLLM with one worker, set up by its page on production, without a database: logs of errors only, no
 * retries, no telemetry.
 */
export const litellm: Proxy = {
  name,
  kind: 'gateway',
  setup:
    'PyPI `litellm[proxy]`, one uvicorn worker (one core; it offers more), `LITELLM_LOG=ERROR`, ' +
    'no master key, no database, no retries',
  needs: ['python3'],
  prepare: () => installPythonPeer(name, 'litellm[proxy]==1.106.2'),
  version: () => pythonPeerVersion(name, 'litellm'),
  installed: () => pythonInstalled(venvOf(name)),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    await Bun.write(join(directory, 'config.yaml'), configuration(upstreamPort))
    const options = ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1']
    const environment = {
      LITELLM_LOG: 'ERROR',
      LITELLM_MODE: 'PRODUCTION',
      // Without this it fetches a list of prices at its start.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
    }
    const command = [join(venvOf(name), 'bin/litellm'), ...options]
    return { program: startProgram({ name, command, core, directory, environment }, register), port, headers: {} }
  },
}

function configuration(upstreamPort: number): string {
  return `model_list:
  - model_name: ${modelName}
    litellm_params:
      model: openai/${modelName}
      api_base: http://127.0.0.1:${upstreamPort}/v1
      api_key: key-for-tests
litellm_settings:
  num_retries: 0
  request_timeout: 600
  telemetry: false
  set_verbose: false
`
}
