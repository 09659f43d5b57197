/**
 * The API reports: every name that can be imported from the package, with its declaration as the compiler publishes it.
 * A change of what users see is a change of these files, and is looked at as such.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API, type Symbol as Named, type Project, SymbolFlags } from 'typescript/unstable/sync'
import { page } from './markdown.ts'

export interface EntryPoint {
  /** As it is imported: `pawl/engine`. */
  readonly name: string
  readonly exported: readonly Declared[]
  /** What the declarations speak of and no entry point exports, module by module. */
  readonly behind: readonly Declared[]
}

export interface Declared {
  readonly name: string
  /** The module that declares it: `core/job`. */
  readonly home: string
  readonly text: string
}

/** A file for each entry point of the package. */
export function apiPages(): readonly { readonly path: string; readonly text: string }[] {
  return entryPoints().map((entry) => ({ path: `docs/api/${fileOf(entry.name)}.md`, text: report(entry) }))
}

const fileOf = (name: string): string => name.replaceAll('/', '-')

function report({ name, exported, behind }: EntryPoint): string {
  const listed = (all: readonly Declared[]) => `\`\`\`ts\n${all.map(({ text }) => text).join('\n\n')}\n\`\`\``
  const rest = Map.groupBy(behind, ({ home }) => home)
  return page(
    name,
    'the declarations of src/',
    `${exported.length} names can be imported.`,
    listed(exported),
    ...[...rest].flatMap(([home, all]) => [`Behind them, and not to be imported, in \`${home}\`:`, listed(all)]),
  )
}

/** What package.json exports, by the name under which it is imported. */
export function entryModules(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types: string } | string>>
  }
  const modules = Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === 'string' ? [] : [[name.replace(/^\./, 'pawl'), entry.types.replace('./dist/', '')] as const],
  )
  return new Map(modules)
}

/** Declares the package into a folder of its own, and reads there what a user's compiler would. */
export function entryPoints(): readonly EntryPoint[] {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-api-'))
  try {
    declare(folder)
    const modules = entryModules()
    const config = { compilerOptions: COMPILER, files: [...modules.values()] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const api = new API({ cwd: folder })
    try {
      const [project] = api.updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] }).getProjects()
      if (project === undefined) throw new Error('the declarations are no project')
      return new Declarations(project, folder).entryPoints(modules)
    } finally {
      api.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const COMPILER = { module: 'nodenext', target: 'es2024', types: [], skipLibCheck: true, noEmit: true }

/** Without comments: what is said about a name may change, what it is may not unnoticed. */
function declare(folder: string): void {
  const args = ['-p', 'tsconfig.build.json', '--outDir', folder, '--emitDeclarationOnly', '--removeComments']
  const run = spawnSync('tsc', [...args, '--sourceMap', 'false', '--inlineSources', 'false'], { encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`declarations cannot be made:\n${run.stdout}${run.stderr}`)
}

class Declarations {
  readonly #project: Project
  readonly #folder: string

  constructor(project: Project, folder: string) {
    this.#project = project
    this.#folder = folder
  }

  entryPoints(modules: ReadonlyMap<string, string>): readonly EntryPoint[] {
    const named = [...modules].map(([name, path]) => ({ name, symbols: this.#exportsOf(path) }))
    const known = new Set(named.flatMap(({ symbols }) => [...symbols.values()].map(({ id }) => id)))
    return named.map(({ name, symbols }) => {
      const exported = [...symbols].flatMap(([as, symbol]) => this.#declared(symbol, as))
      const behind = this.#behind([...symbols.values()], known).flatMap((symbol) => this.#declared(symbol, symbol.name))
      return { name, exported: exported.sort(byName), behind: behind.sort((a, b) => byHome(a, b) || byName(a, b)) }
    })
  }

  #exportsOf(path: string): ReadonlyMap<string, Named> {
    const file = this.#project.program.getSourceFile(join(this.#folder, path))
    const module = file && this.#project.checker.getSymbolAtLocation(file)
    if (module === undefined) throw new Error(`${path} is no module`)
    const found = this.#project.checker
      .getExportsOfModule(module)
      .map((each) => [each.name, this.#meant(each)] as const)
    return new Map(found)
  }

  /** What a name stands for, however many modules have passed it on. */
  #meant(symbol: Named): Named {
    return (symbol.flags & SymbolFlags.Alias) === 0 ? symbol : this.#project.checker.getAliasedSymbol(symbol)
  }

  /** Everything of ours that is mentioned, directly or by what is, and is not known. */
  #behind(symbols: readonly Named[], known: ReadonlySet<number>): readonly Named[] {
    const found = new Map<number, Named>()
    let last = symbols
    while (last.length > 0) {
      const mentioned = this.#mentionedBy(last).filter(({ id }) => !known.has(id) && !found.has(id))
      last = [...new Map(mentioned.map((symbol) => [symbol.id, symbol])).values()]
      for (const symbol of last) found.set(symbol.id, symbol)
    }
    return [...found.values()]
  }

  #mentionedBy(symbols: readonly Named[]): readonly Named[] {
    const words = symbols.flatMap((symbol) => this.#statements(symbol).flatMap(identifiersIn))
    const meant = this.#project.checker
      .getSymbolAtLocation(words)
      .flatMap((symbol) => (symbol === undefined ? [] : [this.#meant(symbol)]))
    return meant.filter((symbol) => this.#statements(symbol).length > 0)
  }

  /** The declarations of ours that stand by themselves in a module: no member, no parameter. */
  #statements(symbol: Named): readonly Node[] {
    return symbol.declarations.flatMap((handle) => {
      const node = handle.resolve(this.#project)
      const ours = node?.getSourceFile().fileName.startsWith(this.#folder) ?? false
      const statement = ours && node !== undefined ? statementOf(node) : undefined
      return statement === undefined ? [] : [statement]
    })
  }

  #declared(symbol: Named, name: string): readonly Declared[] {
    return this.#statements(symbol).map((node) => {
      const text = node.getText().replace(/^(?:export )?(?:declare )?/, '')
      const home = node
        .getSourceFile()
        .fileName.slice(this.#folder.length + 1)
        .replace(/\.d\.ts$/, '')
      return { name, home, text: name === symbol.name ? text : `${text} // as ${name}` }
    })
  }
}

const byName = (a: Declared, b: Declared): number => ascending(a.name, b.name)
const byHome = (a: Declared, b: Declared): number => ascending(a.home, b.home)
const ascending = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** The statement that a declaration is, or that declares a constant; undefined for what is inside of others. */
function statementOf(node: Node): Node | undefined {
  const whole = node.kind === SyntaxKind.VariableDeclaration ? node.parent.parent : node
  return whole.parent?.kind === SyntaxKind.SourceFile ? whole : undefined
}

function identifiersIn(node: Node): readonly Node[] {
  const found: Node[] = []
  const visit = (each: Node): void => {
    if (each.kind === SyntaxKind.Identifier) found.push(each)
    each.forEachChild(visit)
  }
  visit(node)
  return found
}
