import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Icon, type IconName } from '../ui/icon.tsx'
import { modelOrders, type ModelOrder } from './model-order.ts'
import type { ModelFilters } from './search-models.ts'

export interface PickerFiltersProps {
  readonly filters: ModelFilters
  readonly onChange: (filters: ModelFilters) => void
  /** Names of the providers. */
  readonly providers: readonly string[]
  readonly order: ModelOrder
  readonly onSort: (order: ModelOrder) => void
}

const look = 'min-h-8 max-w-40 rounded-full border bg-raised px-2.5 text-sm max-sm:text-base pointer-coarse:min-h-11 '

/** Filters of the picker: free models, models that accept images, models of one provider. Behind them the order. */
export function PickerFilters({ filters, onChange, providers, order, onSort }: PickerFiltersProps): ReactNode {
  const { provider, ...switches } = filters
  return (
    <div
      role="group"
      aria-label={say.models.filters}
      className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2"
    >
      <Chip
        label={say.models.free}
        isOn={filters.isFree}
        onPress={() => onChange({ ...filters, isFree: !filters.isFree })}
      />
      <Chip
        label={say.models.images}
        icon="image"
        isOn={filters.takesImages}
        onPress={() => onChange({ ...filters, takesImages: !filters.takesImages })}
      />
      <select
        aria-label={say.common.provider}
        value={provider ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? switches : { ...switches, provider: target.value })}
        className={look + (provider === undefined ? 'border-line' : 'border-accent text-accent')}
      >
        <option value="">{say.models.allProviders}</option>
        {providers.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label={say.models.order}
        value={order}
        onChange={({ target }) => onSort(modelOrders.find((each) => each === target.value) ?? order)}
        className={`${look} border-line sm:ms-auto`}
      >
        {modelOrders.map((each) => (
          <option key={each} value={each}>
            {say.models.orders[each]}
          </option>
        ))}
      </select>
    </div>
  )
}

function Chip({
  label,
  icon,
  isOn,
  onPress,
}: {
  readonly label: string
  readonly icon?: IconName
  readonly isOn: boolean
  readonly onPress: () => void
}): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={onPress}
      className={
        'inline-flex min-h-8 items-center gap-1.5 rounded-full border px-3 text-sm pointer-coarse:min-h-11 ' +
        (isOn ? 'border-accent bg-accent text-on-accent' : 'border-line bg-raised hover:bg-hover')
      }
    >
      {icon === undefined ? null : <Icon name={icon} className="size-4" />}
      {label}
    </button>
  )
}
