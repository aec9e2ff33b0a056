import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { pythonInstalled } from '../installed.ts'
import { startProgram } from '../processes.ts'
import { modelName } from '../upstream-protocol.ts'
import type { Proxy } from './proxy.ts'
import { installPythonPeer, pythonPeerVersion, venvOf } from './python-peer.ts'

const name = 'llms-py'

/**
 * Extensions that a gateway does not need: the web application with its database, and tools, which are added to every
 * request.
 */
const extensionsOff = [
  'agents',
  'analytics',
  'app',
  'computer',
  'core_tools',
  'gallery',
  'gemini',
  'git',
  'github_auth',
  'jev',
  'katex',
  'mcp_client',
  'openai_auth',
  'pdf',
  'projects',
  'share_llmspy',
  'share_static',
  'skills',
  'system_prompts',
  'tools',
  'voice',
]

/**
 * The server of llms.py with all but the gateway switched off, which makes it some ten times faster. It answers
 * requests for a stream with plain JSON.
 */
export const llmsPy: Proxy = {
  name,
  kind: 'gateway',
  setup:
    'PyPI `llms-py`, `--serve`, its web application, database and tools off (`LLMS_DISABLE`), ' +
    'one provider of npm `@ai-sdk/openai-compatible`',
  needs: ['python3'],
  prepare: () => installPythonPeer(name, 'llms-py==4.0.26'),
  version: () => pythonPeerVersion(name, 'llms-py'),
  installed: () => pythonInstalled(venvOf(name)),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    await Bun.write(join(directory, 'llms.json'), JSON.stringify(configuration(upstreamPort)))
    const environment = { LLMS_HOME: directory, LLMS_DISABLE: extensionsOff.join(','), LLMS_DISABLE_UPDATE: '1' }
    const command = [join(venvOf(name), 'bin/llms'), '--serve', String(port)]
    return { program: startProgram({ name, command, core, directory, environment }, register), port, headers: {} }
  },
}

function configuration(upstreamPort: number): Readonly<Record<string, unknown>> {
  const modalities = { input: ['text'], output: ['text'] }
  const model = {
    id: modelName,
    name: modelName,
    modalities,
    cost: { input: 0, output: 0 },
    limit: { context: 128_000, output: 4096 },
  }
  const mock = {
    enabled: true,
    id: 'mock',
    npm: '@ai-sdk/openai-compatible',
    api: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'key-for-tests',
  }
  return {
    version: 3,
    disable_extensions: [],
    defaults: {
      headers: { 'Content-Type': 'application/json' },
      text: { model: modelName, messages: [{ role: 'user', content: '' }] },
    },
    limits: { client_timeout: 600, client_max_size: 20_971_520, retries: 1 },
    convert: { image: { max_size: '1536x1024', max_length: 1_572_864 } },
    // By default it streams from the provider and joins the chunks: slower, and it fails without usage.
    providers: { mock: { ...mock, stream: false, models: { [modelName]: model } } },
  }
}
