/** Commands of TeX, each before the sign that it prints. */
const signs: ReadonlyMap<string, string> = new Map(
  (
    'alpha α,beta β,gamma γ,delta δ,epsilon ε,varepsilon ε,zeta ζ,eta η,theta θ,kappa κ,lambda λ,mu μ,nu ν,xi ξ,' +
    'pi π,rho ρ,sigma σ,tau τ,phi φ,varphi φ,chi χ,psi ψ,omega ω,Gamma Γ,Delta Δ,Theta Θ,Lambda Λ,Sigma Σ,Phi Φ,' +
    'Psi Ψ,Omega Ω,sum ∑,prod ∏,int ∫,infty ∞,partial ∂,nabla ∇,sqrt √,cdot ·,times ×,pm ±,le ≤,leq ≤,ge ≥,geq ≥,' +
    'ne ≠,neq ≠,approx ≈,equiv ≡,to →,rightarrow →,Rightarrow ⇒,in ∈,subset ⊂,cup ∪,cap ∩,forall ∀,exists ∃,ldots …,' +
    'dots …,cdots …,left ,right ,big ,Big ,quad ,qquad ,displaystyle ,limits ,text ,textbf ,textit ,mathrm ,mathbf ,' +
    'mathit ,mathbb ,mathcal ,mathsf ,operatorname '
  )
    .split(',')
    .map((each) => [each.slice(0, each.indexOf(' ')), each.slice(each.indexOf(' ') + 1)]),
)

/** Nested groups beyond this are shown without their structure. */
const depthMax = 8

/**
 * Replaces formulas of TeX by readable text: `$x^{2} = \frac{1}{2}$` becomes `x^2 = 1/2`. Formulas stand between dollar
 * signs, `\(` and `\)`, `\[` and `\]`. Code, and amounts such as `$5 and $6`, stay.
 */
export function plainFormulas(text: string): string {
  return text.replace(
    /`[^`]*`|\$\$([^$]+)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|(?<![\\$\w])\$(?![\s$])([^$\n]*[^\s$\\])\$(?![\w$])/gs,
    (whole: string, ...groups: readonly unknown[]) => {
      const formula = groups.slice(0, 4).find((each) => typeof each === 'string')
      return typeof formula === 'string' ? plain(formula) : whole
    },
  )
}

function plain(formula: string): string {
  let line = formula.replace(/\\(?:begin|end)\s*\{[^{}]*\}/g, ' ').replace(/\\\\|&/g, ' ')
  for (let depth = 0, before = ''; depth < depthMax && before !== line; depth++) {
    before = line
    line = line
      .replace(/(\^|_|\\sqrt)\s*\{([^{}]*)\}/g, (_, mark: string, inner: string) => mark + enclosed(inner))
      .replace(/\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, (_, top: string, bottom: string) =>
        [top, bottom].map(enclosed).join('/'),
      )
      .replace(/\\(?:text|math|operator)[a-z]*\s*\{([^{}]*)\}/g, '$1')
  }
  return line.replace(/\\([a-zA-Z]+)|\\(.)|[{}]/gs, (_, name?: string, sign?: string) =>
    name === undefined ? (sign ?? '').replace(/[,;:!]/, ' ') : (signs.get(name) ?? name),
  )
}

function enclosed(inner: string): string {
  const trimmed = inner.trim()
  return /^(?:\\?\w+|.)$/s.test(trimmed) ? trimmed : `(${trimmed})`
}
