import { type ReactNode, useEffect, useId, useRef } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Icon } from '../shell/icon.tsx'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A modal dialog: the browser traps the focus, Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const { text } = useTexts()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" className="button quiet icon-only" aria-label={text('action.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </dialog>
  )
}
