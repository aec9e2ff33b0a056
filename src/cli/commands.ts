import type { CommandEntry } from '../base/command-line/command.ts'

/** The commands of docs/commands.md, in the order of the help. The first runs when none is named. */
export const commands: readonly CommandEntry[] = [
  { name: 'serve', load: async () => (await import('./serve.ts')).serveCommand },
  { name: 'check', load: async () => (await import('./check.ts')).checkCommand },
  { name: 'drill', load: async () => (await import('./drill.ts')).drillCommand },
  { name: 'providers', load: async () => (await import('./providers.ts')).providersCommand },
  { name: 'models', load: async () => (await import('./models.ts')).modelsCommand },
  { name: 'init', load: async () => (await import('./init.ts')).initCommand },
  { name: 'import', load: async () => (await import('./import.ts')).importCommand },
  { name: 'connect', load: async () => (await import('./client-commands.ts')).clientCommands.connect() },
  { name: 'login', load: async () => (await import('./client-commands.ts')).clientCommands.login() },
  { name: 'token', load: async () => (await import('./client-commands.ts')).clientCommands.token() },
  { name: 'sessions', load: async () => (await import('./sessions.ts')).sessionsCommand },
  { name: 'usage', load: async () => (await import('./usage.ts')).usageCommand },
  { name: 'prices', load: async () => (await import('./prices.ts')).pricesCommand },
  { name: 'keys', load: async () => (await import('./keys.ts')).keysCommand },
  { name: 'audit', load: async () => (await import('./audit.ts')).auditCommand },
  { name: 'person', load: async () => (await import('./person.ts')).personCommand },
  { name: 'backup', load: async () => (await import('./backup.ts')).backupCommand },
  { name: 'migrate', load: async () => (await import('./migrate.ts')).migrateCommand },
  { name: 'health', load: async () => (await import('./health.ts')).healthCommand },
  { name: 'chat', load: async () => (await import('./client-commands.ts')).clientCommands.chat() },
  { name: 'open', load: async () => (await import('./open.ts')).openCommand },
  {
    name: 'completion',
    load: async () => (await import('./client-commands.ts')).clientCommands.completion(commands),
  },
]
