import type { CommandEntry } from './command.ts'

/** The commands of docs/commands.md, in the order the help lists them. The first runs when none is named. */
export const commands: readonly CommandEntry[] = [
  { name: 'serve', load: async () => (await import('./serve.ts')).serve },
  { name: 'check', load: async () => (await import('./check.ts')).check },
  { name: 'providers', load: async () => (await import('./providers.ts')).providers },
  { name: 'models', load: async () => (await import('./models.ts')).models },
  { name: 'init', load: async () => (await import('./init.ts')).init },
  { name: 'chat', load: async () => (await import('./chat.ts')).chat },
]
