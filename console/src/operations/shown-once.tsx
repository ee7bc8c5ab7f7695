import { useState } from 'react'
import { useTexts } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** A new secret, which is shown now and never again. */
export function ShownOnce({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const { text } = useTexts()
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(secret)
    setCopied(true)
  }
  return (
    <Dialog title={text('keys.secret')} onClose={onClose}>
      <div className="form">
        <p>{text('keys.once')}</p>
        <pre className="json">{secret}</pre>
        <div className="form-actions">
          <button type="button" className="button primary" onClick={() => void copy()}>
            {text(isCopied ? 'keys.copied' : 'action.copy')}
          </button>
        </div>
      </div>
    </Dialog>
  )
}
