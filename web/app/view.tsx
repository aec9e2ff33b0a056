import type { ComponentType, ReactNode, Ref } from 'react'
import { say } from '../texts/say.ts'
import { lazily, PartFailed } from '../ui/lazily.tsx'
import { Loading } from '../ui/loading.tsx'
import { Bar } from './bar.tsx'
import { titleOf, useRoute } from './route.ts'

export interface ViewProps {
  readonly title: string
  /** The view that this one is a part of, before the title: `Requests / Request`. */
  readonly within?: { readonly title: string; readonly href: string }
  /** Takes the focus when it is set. */
  readonly heading?: Ref<HTMLHeadingElement>
  /** Buttons and links at the right of the bar. Those with `isShort` are icons on a phone. */
  readonly actions?: ReactNode
  /** One sentence about the view, above its content. */
  readonly about?: ReactNode
  readonly children: ReactNode
}

/** The frame of every view but chat and comparison: a bar with one title, and the content below its left edge. */
export function View({ title, within, heading, actions, about, children }: ViewProps): ReactNode {
  return (
    <div className="@container flex min-h-full flex-col">
      <Bar isPlain>
        {within === undefined ? null : (
          <a
            href={within.href}
            className="inline-flex min-h-6 shrink-0 items-center text-muted pointer-coarse:min-h-11"
          >
            {within.title}
            <span aria-hidden="true" className="ps-1.5">
              /
            </span>
          </a>
        )}
        <h1
          ref={heading}
          tabIndex={heading === undefined ? undefined : -1}
          className="min-w-0 flex-1 truncate font-semibold outline-none"
        >
          {title}
        </h1>
        <div className="flex shrink-0 items-center gap-2 pe-1 max-sm:gap-1">{actions}</div>
      </Bar>
      <div className="flex flex-1 flex-col px-4 pt-4 pb-12 lg:px-6 lg:pt-5 xl:px-8">
        <div className="flex w-full max-w-336 flex-col gap-4">
          {about === undefined ? null : <p className="max-w-184 text-sm text-pretty text-muted">{about}</p>}
          {children}
        </div>
      </div>
    </div>
  )
}

/** A view that is loaded when it is opened. Meanwhile, and when that failed, its frame is there. */
export function lazyView<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return lazily(load, {
    placeholder: (
      <EmptyView>
        <Loading />
      </EmptyView>
    ),
    failed: (retry) => (
      <EmptyView>
        <PartFailed title={say.app.partNotLoaded} retry={retry}>
          {say.app.partNotLoadedAdvice}
        </PartFailed>
      </EmptyView>
    ),
  })
}

function EmptyView({ children }: { readonly children: ReactNode }): ReactNode {
  return <View title={titleOf(useRoute().view)}>{children}</View>
}
