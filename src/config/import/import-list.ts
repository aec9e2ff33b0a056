import { aisix } from './sources/aisix.ts'
import { bifrost } from './sources/bifrost.ts'
import { newApi, oneApi } from './sources/channels.ts'
import { claudeCodeRouter } from './sources/claude-code-router.ts'
import { litellm } from './sources/litellm.ts'
import { llms } from './sources/llms.ts'
import { openWebui } from './sources/open-webui.ts'
import { portkey } from './sources/portkey.ts'
import type { ImportSource } from './sources/source.ts'

/** The gateways whose configuration can be imported. */
export const importSources: readonly ImportSource[] = [
  ...[litellm, portkey, oneApi, newApi, llms, claudeCodeRouter, bifrost, aisix, openWebui],
]
