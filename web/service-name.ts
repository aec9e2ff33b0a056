/** The service's name: the owner's choice, which the server writes into the page. Plain text from outside. */
export const serviceName =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'svc'

/** Sets the title of the tab: that of the view, and the service's name. */
export function showTitle(view: string): void {
  document.title = `${view} · ${serviceName}`
}
