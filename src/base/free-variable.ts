/**
 * Variables with this beginning may be sent to any base URL that is given on the page. So the page cannot send other
 * secrets of the environment to a host that a client chooses.
 */
export const freeVariableMark = 'SVC_KEY_'

/** The variable that is proposed for the key of a provider: `my-lab` → `SVC_KEY_MY_LAB`. */
export function proposedVariable(id: string): string {
  return freeVariableMark + (id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_') || 'NAME')
}
