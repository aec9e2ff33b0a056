import type { Boot } from '../../src/http/page/page-api.ts'

const key = 'svc-boot'

/** Remembers the boot data of an installed page, to show stored conversations without the service. */
export function rememberBoot(boot: Boot): void {
  try {
    if (navigator.serviceWorker?.controller && (!boot.isClosed || boot.user !== undefined))
      localStorage.setItem(key, JSON.stringify(boot))
    else localStorage.removeItem(key)
  } catch {
    // Storage is forbidden or full: the page needs the service.
  }
}

/** The boot data of the last visit, if there are any. They were written by this page, and are not checked. */
export function rememberedBoot(): Boot | undefined {
  try {
    return (JSON.parse(localStorage.getItem(key) ?? 'null') as Boot | null) ?? undefined
  } catch {
    return undefined
  }
}
