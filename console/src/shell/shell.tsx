import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useSession } from '../api/api.tsx'
import { useTexts } from '../i18n/i18n.tsx'
import { Link, navigate, useRoute } from '../router.tsx'
import { OPERATIONS, type Route } from '../routes.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from './icon.tsx'
import { LanguageSwitch } from './language-switch.tsx'
import { Logo } from './logo.tsx'
import { SHORTCUT_ROWS, Shortcuts } from './shortcuts.ts'
import { useTheme } from './theme.tsx'

const CALLS = ['live', 'runs', 'agents', 'evaluation'] as const

/** Navigation, environment and settings of the display around every page. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const { text } = useTexts()
  const route = useRoute()
  const [isOpen, setOpen] = useState(false)
  const [hasHelp, setHelp] = useState(false)
  useShortcuts(() => setHelp(true))
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu of small screens
  useEffect(() => setOpen(false), [route.page])
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {text('shell.skip')}
      </a>
      <header className="top">
        <button
          type="button"
          className="button quiet icon-only"
          aria-expanded={isOpen}
          aria-controls="nav"
          aria-label={text('shell.menu')}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} size={22} />
        </button>
        <Logo />
      </header>
      <aside className={isOpen ? 'side open' : 'side'} id="nav">
        <div className="side-head">
          <Logo />
          <EnvironmentBadge />
        </div>
        <nav aria-label={text('shell.navigation')}>
          <ul>
            {CALLS.map(page => (
              <NavItem key={page} to={{ page }} icon={page} current={sectionOf(route) === page} />
            ))}
          </ul>
          <h2>{text('nav.operations')}</h2>
          <ul>
            {OPERATIONS.map(page => (
              <NavItem key={page} to={{ page }} icon={page} current={sectionOf(route) === page} />
            ))}
          </ul>
        </nav>
        <SideFoot onHelp={() => setHelp(true)} />
      </aside>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {hasHelp && <ShortcutHelp onClose={() => setHelp(false)} />}
    </div>
  )
}

function sectionOf(route: Route): string {
  if (route.page === 'run') return 'runs'
  if (route.page === 'agent') return 'agents'
  if (route.page === 'trunk') return 'telephony'
  if (route.page === 'test-run' || route.page === 'suite') return 'evaluation'
  return route.page
}

interface NavItemProps {
  readonly to: { readonly page: (typeof CALLS)[number] | (typeof OPERATIONS)[number] }
  readonly icon: IconName
  readonly current: boolean
}

function NavItem({ to, icon, current }: NavItemProps) {
  const { text } = useTexts()
  return (
    <li>
      <Link to={to} className="nav-link" current={current}>
        <Icon name={icon} />
        {text(`nav.${to.page}`)}
      </Link>
    </li>
  )
}

/** The environment: that of the key, or the one that a person chooses. */
function EnvironmentBadge() {
  const { api, how, chooseEnvironment } = useSession()
  const { text, word } = useTexts()
  const { data } = useQuery({
    queryKey: ['environments.list'],
    queryFn: ({ signal }) => api.environments.list({}, { signal }),
    staleTime: 60_000,
  })
  const selected = data?.items.find(({ environment }) => environment === data.selected)
  if (data === undefined || selected === undefined) return <span className="environment" />
  const isPerson = how.kind === 'session' && how.session.principal.kind === 'user'
  return (
    <span className="environment">
      <strong>{selected.display_name ?? selected.name}</strong>
      {isPerson && data.items.length > 1 ? (
        <select
          aria-label={text('shell.environment')}
          value={data.selected}
          onChange={event => chooseEnvironment(event.target.value === 'sandbox' ? 'sandbox' : 'production')}
        >
          {data.items.map(({ environment }) => (
            <option key={environment} value={environment}>
              {word('environment', environment)}
            </option>
          ))}
        </select>
      ) : (
        <span className={`badge ${selected.environment === 'production' ? 'good' : 'warn'}`}>
          {word('environment', selected.environment)}
        </span>
      )}
    </span>
  )
}

function SideFoot({ onHelp }: { readonly onHelp: () => void }) {
  const { text } = useTexts()
  const { theme, toggle } = useTheme()
  const { signOut } = useSession()
  return (
    <div className="side-foot">
      <div className="side-tools">
        <button type="button" className="button quiet icon-only" aria-label={text('shell.theme')} onClick={toggle}>
          <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          className="button quiet icon-only"
          aria-label={text('shortcuts.title')}
          title={`${text('shortcuts.title')} (?)`}
          onClick={onHelp}
        >
          <Icon name="keyboard" />
        </button>
        <LanguageSwitch />
        <button type="button" className="button quiet icon-only" aria-label={text('shell.signOut')} onClick={signOut}>
          <Icon name="exit" />
        </button>
      </div>
      <a className="nav-link small" href="/docs/">
        {text('shell.reference')}
      </a>
    </div>
  )
}

function ShortcutHelp({ onClose }: { readonly onClose: () => void }) {
  const { text } = useTexts()
  return (
    <Dialog title={text('shortcuts.title')} onClose={onClose}>
      <dl className="shortcuts">
        {SHORTCUT_ROWS.map(({ keys, name }) => (
          <div key={name}>
            <dt>
              {keys.map(key => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text(name)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

function useShortcuts(onHelp: () => void): void {
  const { toggle } = useTheme()
  const latest = useRef({ onHelp, toggle })
  latest.current = { onHelp, toggle }
  useEffect(() => {
    const shortcuts = new Shortcuts()
    const onKey = (event: KeyboardEvent) => {
      if (isField(event.target) || event.metaKey || event.ctrlKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      const action = shortcuts.press(event.key, performance.now())
      if (action === null) return
      event.preventDefault()
      if (action.kind === 'go') navigate(action.route)
      else if (action.kind === 'help') latest.current.onHelp()
      else if (action.kind === 'theme') latest.current.toggle()
      else document.querySelector<HTMLElement>('[data-filter]')?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
