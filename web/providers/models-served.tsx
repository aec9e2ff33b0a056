import { useState, type ReactNode } from 'react'
import type { ProviderEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatCount } from '../ui/format.ts'

const shownFirst = 4
const filterFrom = 12
const listedMost = 200

/** The models of a provider: the first few, and the rest on demand, with a filter for long lists. */
export function ModelsServed({
  provider: { id, models, modelCount },
}: {
  readonly provider: ProviderEntry
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  if (models === undefined) return <p className="mt-3 text-sm text-muted">{say.providers.notKnownYet}</p>
  if (models.length === 0) return <p className="mt-3 text-sm text-muted">{say.providers.noModels}</p>
  const count = modelCount ?? models.length
  return (
    <div className="mt-3 text-sm">
      <p className="flex flex-wrap items-center gap-1.5">
        <span className="text-muted">{say.providers.serves}</span>
        {models.slice(0, shownFirst).map((model) => (
          <ModelName key={model} model={model} />
        ))}
      </p>
      {count <= shownFirst ? null : (
        <details className="mt-1" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="w-fit rounded-md py-1 text-accent pointer-coarse:py-2.5">
            {say.providers.allModels(count)}
            <span className="sr-only">{say.providers.of(id)}</span>
          </summary>
          {isOpen ? <AllModels id={id} models={models} count={count} /> : null}
        </details>
      )}
    </div>
  )
}

function AllModels({
  id,
  models,
  count,
}: {
  readonly id: string
  readonly models: readonly string[]
  readonly count: number
}): ReactNode {
  const [wanted, setWanted] = useState('')
  const found = models.filter((model) => model.toLowerCase().includes(wanted.trim().toLowerCase()))
  const listed = found.slice(0, listedMost)
  return (
    <div className="mt-1 flex flex-col gap-2">
      {models.length < filterFrom ? null : (
        <input
          type="search"
          aria-label={say.providers.filterModelsOf(id)}
          placeholder={say.providers.filter}
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          className={
            'min-h-9 w-full max-w-xs rounded-lg border border-muted bg-page px-3 text-base pointer-coarse:min-h-11'
          }
        />
      )}
      {found.length === 0 ? (
        <p className="text-muted">{say.providers.noMatch}</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5">
          {listed.map((model) => (
            <li key={model} className="min-w-0">
              <ModelName model={model} />
            </li>
          ))}
        </ul>
      )}
      {found.length > listed.length ? (
        <p className="text-muted">{say.providers.andMore(formatCount(found.length - listed.length))}</p>
      ) : null}
      {count > models.length ? (
        <p className="text-muted">{say.providers.firstListed(formatCount(models.length), formatCount(count))}</p>
      ) : null}
    </div>
  )
}

function ModelName({ model }: { readonly model: string }): ReactNode {
  return (
    <code
      className={
        'inline-block max-w-full rounded-md border border-line bg-raised px-1.5 py-0.5 font-mono text-xs ' +
        '[overflow-wrap:anywhere]'
      }
    >
      {model}
    </code>
  )
}
