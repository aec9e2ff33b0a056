import { Component, type ReactNode } from 'react'

export interface ErrorBoundaryProps {
  readonly children: ReactNode
  /** Shown instead of the children that failed. `retry` renders them again. */
  readonly fallback: (error: unknown, retry: () => void) => ReactNode
  /** A new value renders the children again. */
  readonly resetKey?: string
}

interface State {
  readonly failure: { readonly error: unknown } | undefined
  readonly key: string | undefined
}

/** Catches render errors of its children and shows a fallback. (React has no function component for this.) */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  override state: State = { failure: undefined, key: this.props.resetKey }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failure: { error } }
  }

  static getDerivedStateFromProps({ resetKey }: ErrorBoundaryProps, { key }: State): Partial<State> | null {
    return resetKey === key ? null : { failure: undefined, key: resetKey }
  }

  override render(): ReactNode {
    const { failure } = this.state
    return failure === undefined
      ? this.props.children
      : this.props.fallback(failure.error, () => this.setState({ failure: undefined }))
  }
}
