import type { ReactNode } from 'react'
import type { ProviderEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { useNow } from '../ui/use-now.ts'
import { describeFirstToken, describeLastError, describeSuccess } from './describe-provider.ts'
import { ModelsServed } from './models-served.tsx'
import { OwnWords } from './own-words.tsx'

/** More facts about a provider than its row has: address, figures, last error and models. */
export function ProviderDetails({ provider }: { readonly provider: ProviderEntry }): ReactNode {
  const now = useNow(5_000)
  const { protocol, baseUrl, coolingModels, lastError } = provider
  return (
    <>
      <p className="text-sm text-muted [overflow-wrap:anywhere]">
        {[say.providers.protocol(protocol), baseUrl].filter((part) => part !== undefined).join(' · ')}
      </p>
      {coolingModels.length === 0 ? null : (
        <p className="mt-1 text-sm text-warn [overflow-wrap:anywhere]">
          {say.providers.coolingModels(coolingModels.join(', '))}
        </p>
      )}
      <dl className="mt-3 grid grid-cols-2 gap-x-4 gap-y-2 text-sm @2xl:grid-cols-[9rem_14rem_1fr]">
        <Figure name={say.providers.answered} value={describeSuccess(provider)} />
        <Figure name={say.providers.firstToken} value={describeFirstToken(provider)} />
        <Figure name={say.providers.lastError} value={describeLastError(provider, now)} isWide>
          <OwnWords detail={lastError?.detail} />
        </Figure>
      </dl>
      <ModelsServed provider={provider} />
    </>
  )
}

function Figure({
  name,
  value,
  isWide = false,
  children,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly isWide?: boolean
  readonly children?: ReactNode
}): ReactNode {
  return (
    <div className={`min-w-0 ${isWide ? 'col-span-2 @2xl:col-span-1' : ''}`}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular-nums [overflow-wrap:anywhere]">
        {value ?? (
          <span className="text-muted">
            <span aria-hidden="true">–</span>
            <span className="sr-only">{say.common.noneOfThese}</span>
          </span>
        )}
        {children}
      </dd>
    </div>
  )
}
