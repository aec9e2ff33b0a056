/** Views about who may use the service. They are loaded together: each is small. */
export { AuditView } from '../audit/audit-view.tsx'
export { KeysView } from '../keys/keys-view.tsx'
export { LimitsView } from '../limits/limits-view.tsx'
export { PeopleView } from '../people/people-view.tsx'
