import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VENDORS } from '@parley/providers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SETTING_NAMES } from './environment.ts'
import { RoleMetrics } from './role-metrics.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const all = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, found]) => found!))]

const compose = read('docker-compose.yml')
const example = read('.env.example')
const operations = read('docs/operations.md')
const prometheus = read('deploy/prometheus/prometheus.yml')

const vendorNames = VENDORS.flatMap(({ settings }) =>
  settings === null
    ? []
    : [settings.apiKey, settings.baseUrl.name, ...(settings.models === null ? [] : [settings.models.name])],
)

describe('.env.example', () => {
  const named = all(example, /^#?([A-Z][A-Z0-9_]+)=/gm)

  it('.env.example names every setting, and nothing that is none', () => {
    const ofCompose = all(compose, /\$\{([A-Z_]+)/g)
    expect(named.toSorted()).toEqual([...new Set([...SETTING_NAMES, ...vendorNames, ...ofCompose])].toSorted())
  })

  it('.env.example leaves no setting at a value but those that docker-compose.yml requires', () => {
    const required = all(compose, /\$\{([A-Z_]+):\?/g)
    expect(all(example, /^([A-Z][A-Z0-9_]+)=/gm).toSorted()).toEqual(required.toSorted())
    expect(example).not.toMatch(/^[A-Z][A-Z0-9_]+=./m)
  })

  it('.env.example has settings that docs/operations.md describes', () => {
    const undocumented = [...SETTING_NAMES, ...vendorNames].filter(name => !operations.includes(`\`${name}\``))
    expect(undocumented).toEqual([])
  })
})

describe('docker-compose.yml', () => {
  it('docker-compose.yml pins every image to a version', () => {
    const images = all(compose, /image: (\S+)/g).filter(image => !image.startsWith('parley:'))
    expect(images.length).toBeGreaterThan(4)
    for (const image of images) expect(image).toMatch(/^[a-z/-]+:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/)
    for (const [, base] of read('Dockerfile').matchAll(/^FROM (\S+)/gm))
      expect(base).toMatch(/^node:\d+\.\d+\.\d+-\S+$/)
  })

  it('docker-compose.yml uses ports that docs/operations.md lists', () => {
    const table = /### Docker Compose[\s\S]*?### Disk use/.exec(operations)![0]
    const listed = new Set(all(table, /\b(\d{4,5})\b/g))
    const started = read('deploy/seaweedfs/start.sh')
    const used = all(
      [
        compose,
        prometheus,
        started,
        read('deploy/grafana/provisioning/datasources/prometheus.yml'),
        read('deploy/otel/collector.yml'),
      ].join('\n'),
      /(?:127\.0\.0\.1:|PORT(?:S)?: |port=)(\d{4,5}(?:-\d{5})?)/g,
    ).flatMap(ports => ports.split('-'))
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter(port => !listed.has(port))).toEqual([])
  })

  it('docker-compose.yml gives each process of Parley a port of its own, and Prometheus reads each', () => {
    const health = all(compose, /127\.0\.0\.1:(\d+)\/healthz/g)
    const scraped = all(prometheus, /127\.0\.0\.1:(\d+)/g)
    expect(health.toSorted()).toEqual(scraped.toSorted())
    expect(['8080', ...all(compose, /PARLEY_HTTP_PORT: (\d+)/g)].toSorted()).toEqual(health.toSorted())
  })

  const installed = spawnSync('docker-compose', ['--version']).status === 0
  it.skipIf(!installed)('is accepted by docker-compose (Debian: apt-get install docker-compose)', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'parley-compose-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await copyFile(join(root, 'docker-compose.yml'), join(directory, 'docker-compose.yml'))
    const required = all(compose, /\$\{([A-Z_]+):\?/g)
    const config = async (empty?: string) => {
      const filled = required.filter(name => name !== empty).map(name => `${name}=x`)
      await writeFile(join(directory, '.env'), filled.join('\n'))
      return spawnSync('docker-compose', ['config'], {
        cwd: directory,
        encoding: 'utf8',
        env: { PATH: process.env.PATH },
      })
    }
    const accepted = await config()
    expect(accepted.stderr).toBe('')
    expect(accepted.stdout).toContain('postgres://parley:x@127.0.0.1:5432/parley')
    expect((await config(required[0])).stderr).toContain(required[0])
  })
})

describe('the image', () => {
  const { scripts } = JSON.parse(read('package.json'))
  const dockerfile = read('Dockerfile')

  it('the image is made and started as `npm start` of the README does it', () => {
    expect(read('README.md')).toMatch(/^npm start /m)
    const runs = all(dockerfile, /^RUN (node .+)$/gm)
    expect(runs).toEqual([scripts.prestart])
    const [entry, command] = [/^ENTRYPOINT (.+)$/m, /^CMD (.+)$/m].map(line => JSON.parse(line.exec(dockerfile)![1]!))
    expect(`exec ${[...entry, ...command].join(' ')}`).toBe(scripts.start)
  })

  it('the image contains everything of the repository but what .dockerignore names, as a clone does', () => {
    expect(all(dockerfile, /^COPY (?!--from)(.+)$/gm)).toEqual(['. .'])
  })
})

describe('the dashboards of Grafana', () => {
  const names = readdirSync(join(root, 'deploy/grafana/dashboards'))

  it.each(names)('%s shows metrics that Parley has', name => {
    const metrics = new RoleMetrics()
    metrics.watchProcess()
    metrics.watchEngine(() => ({
      live: 0,
      isDraining: false,
      mediaLatenessMs: 0,
      audioReadLatenessMs: 0,
      certificateEndsAt: null,
      refused: 0,
      evicted: 0,
      datagramsDropped: 0,
    }))
    metrics.watchTrunks(() => {
      throw new Error('only the names of the metrics are read')
    })
    metrics.watchQueue({ waiting: () => Promise.resolve([]) })
    metrics.watchSpool(() => ({ bytes: 0, maxBytes: 0, refused: { spool_full: 0, disk_full: 0, unwritable: 0 } }))
    const known = new Set(metrics.registry.getMetricsAsArray().map(metric => metric.name))
    for (const metric of all(read('control-plane/src/http/metrics.ts'), /name: '(parley_\w+)'/g)) known.add(metric)
    const dashboard = JSON.parse(read(`deploy/grafana/dashboards/${name}`))
    const shown = all(JSON.stringify(dashboard), /\b(parley_\w+?)(?:_bucket|_sum|_count)?\b/g)
    expect(shown.length).toBeGreaterThan(3)
    expect(shown.filter(metric => !known.has(metric) && !metric.startsWith('parley_jobs_'))).toEqual([])
  })
})
