import { type AgentCall, type CallAccess, call, siteAccess } from './agent-call.ts'

const STYLE = `
:host { display: inline-block; font: var(--parley-font, 15px/1.4 system-ui, sans-serif); color: var(--parley-colour, inherit) }
button { font: inherit; cursor: pointer; border: 0; border-radius: var(--parley-radius, 999px); padding: .6em 1.2em;
  background: var(--parley-accent, #0b6e4f); color: var(--parley-accent-text, #fff) }
button.second { background: transparent; color: inherit; border: 1px solid currentColor }
button:focus-visible { outline: 3px solid currentColor; outline-offset: 2px }
ol { list-style: none; margin: .8em 0 0; padding: 0; max-height: 16em; overflow: auto }
li { margin: .3em 0 } li[data-role=agent] { font-weight: 600 }
p { margin: .5em 0 0; opacity: .8 }`

const TEXTS = {
  en: {
    call: 'Call',
    hangUp: 'Hang up',
    mute: 'Mute',
    unmute: 'Unmute',
    connecting: 'Connecting…',
    ended: 'The call has ended.',
  },
  es: {
    call: 'Llamar',
    hangUp: 'Colgar',
    mute: 'Silenciar',
    unmute: 'Activar',
    connecting: 'Conectando…',
    ended: 'La llamada ha terminado.',
  },
} as const

/**
 * `<parley-call>`: a button that calls an agent, and the transcript of the call.
 *
 * - `site-key`: a site key (`pk_…`); with it `server`, the base URL of the API (default: where this module was loaded from).
 * - Or the property `access`: a function that returns address and token of a new web run. The site's own server gets them by
 *   `POST /runs`, because an API key must not be sent to a browser.
 * - `label`: the text of the button. `language`: en (default) or es.
 * - CSS properties: `--parley-accent`, `--parley-accent-text`, `--parley-radius`, `--parley-font`, `--parley-colour`.
 */
export class ParleyCallElement extends HTMLElement {
  /** Returns the address and the token of a new web run. Default: by the attribute `site-key`. */
  access: (() => Promise<CallAccess>) | null = null
  /** The call in progress; null: none. */
  current: AgentCall | null = null
  readonly #button = document.createElement('button')
  readonly #mute = document.createElement('button')
  readonly #status = document.createElement('p')
  readonly #transcript = document.createElement('ol')

  connectedCallback(): void {
    if (this.shadowRoot !== null) return
    const style = document.createElement('style')
    style.textContent = STYLE
    this.#mute.className = 'second'
    this.#mute.hidden = true
    this.#status.setAttribute('role', 'status')
    this.#transcript.setAttribute('aria-live', 'polite')
    this.#button.onclick = () => void this.#toggle()
    this.#mute.onclick = () => {
      this.current?.mute(!this.current.muted)
      this.#show()
    }
    this.attachShadow({ mode: 'open' }).append(style, this.#button, ' ', this.#mute, this.#status, this.#transcript)
    this.#show()
  }

  disconnectedCallback(): void {
    this.current?.hangUp()
  }

  async #toggle(): Promise<void> {
    if (this.current !== null) return this.current.hangUp()
    this.#transcript.replaceChildren()
    this.#button.disabled = true
    this.#status.textContent = this.#texts.connecting
    try {
      const current = await call(await this.#newAccess())
      this.current = current
      this.#status.textContent = ''
      current.on('utterance', ({ role, text }) => {
        const line = document.createElement('li')
        line.dataset.role = role
        // Text, never markup: it is what was said.
        line.textContent = text
        this.#transcript.append(line)
        line.scrollIntoView({ block: 'nearest' })
      })
      current.on('state', state => {
        if (state === 'ended') {
          this.current = null
          this.#status.textContent = this.#texts.ended
        }
        this.#show()
        this.dispatchEvent(new CustomEvent('parley-state', { detail: state }))
      })
    } catch (error) {
      this.#status.textContent = error instanceof Error ? error.message : String(error)
    } finally {
      this.#button.disabled = false
      this.#show()
    }
  }

  #newAccess(): Promise<CallAccess> {
    if (this.access !== null) return this.access()
    const siteKey = this.getAttribute('site-key')
    if (siteKey === null)
      throw new Error('<parley-call> has neither the attribute "site-key" nor the property "access": set one of them')
    return siteAccess(siteKey, this.getAttribute('server') ?? undefined)
  }

  get #texts() {
    return this.getAttribute('language') === 'es' ? TEXTS.es : TEXTS.en
  }

  #show(): void {
    const { call: label, hangUp, mute, unmute } = this.#texts
    this.#button.textContent = this.current === null ? (this.getAttribute('label') ?? label) : hangUp
    this.#mute.hidden = this.current === null
    this.#mute.textContent = this.current?.muted === true ? unmute : mute
  }
}

if (!customElements.get('parley-call')) customElements.define('parley-call', ParleyCallElement)
