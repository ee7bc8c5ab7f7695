import type { ReactNode } from 'react'
import { faultText } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'

interface PageHeadProps {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly children?: ReactNode
}

/** The head of a page: its title, a line below it, and its actions. */
export function PageHead({ title, lead, children }: PageHeadProps) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p className="lead">{lead}</p>}
      </div>
      {children !== undefined && <div className="page-actions">{children}</div>}
    </header>
  )
}

/** What a request refused, or why it failed. */
export function Fault({ error }: { readonly error: unknown }) {
  return (
    <p role="alert" className="fault">
      <Icon name="warning" />
      <span>{faultText(error)}</span>
    </p>
  )
}

export function Loading() {
  const { text } = useTexts()
  return (
    <p role="status" className="loading">
      {text('state.loading')}
    </p>
  )
}

/** A text in which what stands between backticks is code. */
export function Marked({ text }: { readonly text: string }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}

export function Empty({ children }: { readonly children: ReactNode }) {
  return <p className="empty">{children}</p>
}

export type Tone = 'good' | 'bad' | 'warn' | 'live' | 'neutral'

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}

interface SectionProps {
  readonly title: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

export function Section({ title, actions, children, className = '' }: SectionProps) {
  return (
    <section className={`card ${className}`}>
      <header className="card-head">
        <h2>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

/** Facts as pairs of a name and a value; pairs with the value null are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {rows
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
