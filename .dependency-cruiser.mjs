// Who may import whom (docs/architecture.md). `scripts/dependency-rules.ts` runs these rules and tests that they bite.

/** The packages, with the packages that each may import. Whatever is not listed is forbidden. */
const packages = {
  'packages/kernel': [],
  sip: ['packages/kernel'],
  media: ['packages/kernel'],
  'packages/nodes': ['packages/kernel'],
  'packages/contract': ['packages/kernel', 'packages/nodes'],
  'packages/flow': ['packages/kernel', 'packages/nodes', 'packages/contract'],
  'packages/dialogue': ['packages/kernel', 'media'],
  'packages/fakes': ['packages/kernel', 'media'],
  // `fakes` for tests only (rule "fakes-are-for-tests").
  'packages/providers': ['packages/kernel', 'media', 'packages/fakes'],
  'packages/egress': ['packages/kernel'],
  'packages/store': ['packages/kernel', 'packages/contract'],
  'packages/knowledge': ['packages/kernel', 'packages/contract', 'packages/providers', 'packages/store'],
  'packages/leg': ['packages/kernel', 'sip', 'media'],
  // `media` for the stand-in of a browser alone: tests use it.
  'packages/webrtc': ['packages/kernel', 'media'],
  'packages/conversation': [
    'packages/kernel',
    'packages/flow',
    'packages/dialogue',
    'packages/providers',
    'packages/egress',
  ],
  'packages/runs': [
    'packages/kernel',
    'media',
    'packages/contract',
    'packages/flow',
    'packages/providers',
    'packages/egress',
    'packages/store',
    'packages/conversation',
  ],
  'packages/engine': [
    'packages/kernel',
    'sip',
    'media',
    'packages/contract',
    'packages/flow',
    'packages/dialogue',
    'packages/providers',
    'packages/store',
    'packages/leg',
    'packages/webrtc',
    'packages/conversation',
    'packages/runs',
  ],
  'packages/evaluation': [
    'packages/kernel',
    'media',
    'packages/contract',
    'packages/flow',
    'packages/providers',
    'packages/conversation',
    'packages/leg',
    'packages/engine',
    'packages/phone',
  ],
  // `sip` for the reaper alone: it hangs up for engines that died.
  'packages/jobs': [
    'packages/kernel',
    'sip',
    'packages/contract',
    'packages/flow',
    'packages/providers',
    'packages/egress',
    'packages/store',
    'packages/knowledge',
    'packages/conversation',
    'packages/runs',
    'packages/evaluation',
  ],
  'packages/phone': ['packages/kernel', 'sip', 'media', 'packages/contract', 'packages/providers', 'packages/leg'],
  'packages/client': ['packages/kernel', 'packages/contract'],
  // Runs in browsers, without dependencies.
  'packages/web': [],
  'control-plane': ['packages/kernel', 'packages/contract', 'packages/flow', 'packages/store'],
  // The outside judges: made of phones and the layers below them, never of what they judge.
  loadtest: [
    'packages/kernel',
    'sip',
    'media',
    'packages/contract',
    'packages/providers',
    'packages/leg',
    'packages/phone',
  ],
  examples: ['packages/kernel', 'packages/flow'],
  // The public API only, through its client, and calls of the browser.
  console: ['packages/contract', 'packages/client', 'packages/web'],
  'packages/cli': [
    'packages/kernel',
    'sip',
    'media',
    'packages/flow',
    'packages/dialogue',
    'packages/providers',
    'packages/egress',
    'packages/fakes',
    'packages/knowledge',
    'packages/leg',
    'packages/conversation',
    'packages/runs',
    'packages/engine',
    'packages/jobs',
    'packages/evaluation',
    'packages/phone',
    'packages/webrtc',
    'packages/contract',
    'packages/store',
    'packages/client',
    'control-plane',
    'examples',
  ],
}

/** Packages whose code outside io/ takes time, randomness and the outside world as arguments. */
const pureRooms = ['sip', 'media', 'packages/nodes', 'packages/flow', 'packages/dialogue', 'packages/providers']

/** Where the code that touches the outside world lives: `src/io/`, and `src/VENDOR/io/` of a vendor of services. */
const ioFolders = ['/src/io/', '/src/[^/]+/io/']

/** Tests, fuzz targets and test data may do what the code they test may not. */
const testCode = '(\\.test\\.ts$|\\.fixture\\.ts$|/fuzz/|/fixtures/)'

const anyPackage = `^(${Object.keys(packages).join('|')})/`
const named = names => `^(${names.join('|')})/`

function arrowRule([folder, allowed]) {
  return {
    name: `arrows-of-${folder.replace('packages/', '')}`,
    comment: `${folder} may import ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}`,
    severity: 'error',
    from: { path: `^${folder}/` },
    to: { path: anyPackage, pathNot: named([folder, ...allowed]) },
  }
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(packages).map(arrowRule),
    {
      name: 'by-its-entry-point',
      comment: 'another package is imported as @parley/NAME: its src/index.ts, never a file behind it',
      severity: 'error',
      from: { path: `${anyPackage.slice(0, -1)}/(?:src|bin)/`, pathNot: [testCode, '/testing/'] },
      to: { path: anyPackage, pathNot: ['^$1/', '/src/index\\.ts$'] },
    },
    {
      name: 'tests-by-an-entry-point-too',
      comment: 'tests use what another package offers to tests as @parley/NAME/testing: its src/testing/index.ts',
      severity: 'error',
      from: { path: `${anyPackage.slice(0, -1)}/(?:src|bin)/.*(?:${testCode}|/testing/)` },
      to: { path: anyPackage, pathNot: ['^$1/', '/src/(testing/)?index\\.ts$'] },
    },
    {
      name: 'not-by-path',
      comment: 'another package is imported by its name, not by a relative path',
      severity: 'error',
      from: { path: anyPackage },
      to: { path: anyPackage, pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'declared-package',
      comment: 'a new package says in .dependency-cruiser.mjs what it may import',
      severity: 'error',
      from: { path: '^(sip|media|packages|control-plane|loadtest|examples|console)/', pathNot: anyPackage },
      to: {},
    },
    {
      name: 'outside-world-only-in-io',
      comment: 'sockets, files, timers and processes of a pure package live in an io folder',
      severity: 'error',
      from: { path: named(pureRooms), pathNot: [...ioFolders, testCode] },
      to: {
        path: '^(node:)?(net|tls|dgram|fs|timers|dns|child_process|worker_threads|http|https|http2|readline|cluster)(/|$)',
        dependencyTypes: ['core'],
      },
    },
    {
      name: 'no-circle',
      comment: 'what imports each other is one thing, or needs a third',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      comment: 'a package that is not declared, or a file behind an entry point',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-test-code-in-the-product',
      comment: 'tests, fuzz targets and test data are imported by tests and scripts only',
      severity: 'error',
      from: { path: anyPackage, pathNot: [testCode, '/testing/', '/conformance', '\\.fixture\\.ts$'] },
      to: { path: [testCode, '/src/testing/'] },
    },
    {
      name: 'fakes-are-for-tests',
      comment:
        'fakes of services are a development dependency: of tests, scripts and the stand-ins of the command line',
      severity: 'error',
      from: { path: anyPackage, pathNot: ['^packages/fakes/', '^packages/cli/src/stand-ins/', testCode, '/testing/'] },
      to: { path: '^packages/fakes/' },
    },
    {
      name: 'stand-ins-on-demand',
      comment: 'the product starts without the fakes: the command that runs stand-ins loads them with import()',
      severity: 'error',
      from: { path: '^packages/cli/', pathNot: ['^packages/cli/src/stand-ins/', testCode, '/testing/'] },
      to: { path: '^packages/cli/src/stand-ins/', dynamic: false },
    },
    {
      name: 'development-packages',
      comment: 'packages of devDependencies are for tests and scripts',
      severity: 'error',
      from: { path: anyPackage, pathNot: [testCode, '/testing/', '/conformance'] },
      to: { path: '^node_modules/(vitest|fast-check|@jazzer\\.js|dependency-cruiser|@swc)/' },
    },
  ],
  options: {
    // TypeScript 7 has no compiler API: with the default parser not one module is found, and everything passes.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['/fixtures/', '^(console|packages/web)/dist/', '^node_modules/\\.'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  },
}
