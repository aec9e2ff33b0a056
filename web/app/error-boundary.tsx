import { Component, type ReactNode } from 'react'

/** What {@link ErrorBoundary} shows. */
export interface ErrorBoundaryProps {
  readonly children: ReactNode
  /** In the place of what failed. */
  readonly fallback: (error: unknown, again: () => void) => ReactNode
  /** Another value tries again. */
  readonly resetKey?: string
}

interface State {
  readonly failure: { readonly error: unknown } | undefined
  readonly key: string | undefined
}

/** Keeps a failure where it is: what stands around it goes on. (React has no function for this.) */
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
