/** Address of the thread's module. scripts/build.ts replaces this file, so that an executable has the module in it. */
export function threadFile(): string {
  return new URL('use-thread.ts', import.meta.url).href
}
