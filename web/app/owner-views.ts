/** Views that are loaded together: they share their charts. */
export { RequestsView } from '../requests/requests-view.tsx'
export { UsageView } from '../usage/usage-view.tsx'
