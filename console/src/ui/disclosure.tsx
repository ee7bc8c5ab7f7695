import { type ReactNode, useState } from 'react'

/** A section that is closed at first; its content is made when it is opened. */
export function Disclosure({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="card disclosure" open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {isOpen && <div className="disclosure-body">{children}</div>}
    </details>
  )
}
