import type { ListedModel, ListedOffer } from './model.ts'

/** What the key of a program may be for. Each route of the service needs one of these, or admits no key. */
export type AccessScope = 'chat' | 'models:read' | 'usage:read' | 'log:read' | 'metrics:read' | 'keys:write'

/** The limits of a caller that sent a key. */
export interface Access {
  mayDo(scope: AccessScope): boolean
  /** @param name as the caller wrote it */
  mayUseModel(name: string): boolean
  /** @param id of a provider */
  mayUseProvider(id: string): boolean
}

/** The models that a caller may use, with the providers that it may use. @param access absent: all */
export function accessibleModels(models: readonly ListedModel[], access: Access | undefined): readonly ListedModel[] {
  if (access === undefined) return models
  return models.flatMap(({ name, offers }): readonly ListedModel[] => {
    const [first, ...others]: readonly ListedOffer[] = offers.filter(({ provider }) => access.mayUseProvider(provider))
    return first === undefined || !access.mayUseModel(name) ? [] : [{ name, offers: [first, ...others] }]
  })
}
