"""Morphology of each language for the annotator: one table per language, in the usual notation.

Suffixes are written with archiphonemes: a capital letter stands for any letter of its class (`A` in Turkish is a or
e, `I` one of ı i u ü, `D` d or t). A letter in parentheses is a linking letter: a consonant appears only after a vowel
(`(y)A`), a vowel only after a consonant (`(I)m`). Words are written as `stems.normalise` returns them: in lower case,
without apostrophes, with the letters of `Morphology.letters` replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Morphology:
    """How one language inflects; slots hold suffixes separated by blanks.

    A noun is a stem, then at most one of each of `plural`, `possessives`, `cases`, the relative (`relatives` with a
    case after it), `copulas`, `persons`. A verb is a stem, then any `voices`, any `aspects`, then a tense with copulas
    and a person, or a participle with the suffixes of a noun, or a converb, or an imperative, or nothing.
    """

    vowels: str
    classes: dict[str, str]  # archiphonemes and the letters they stand for
    plural: str
    possessives: str
    cases: str
    relatives: str
    copulas: str
    persons: str
    short_persons: str  # that follow a tense or a copula only
    voices: str  # passive, reflexive, reciprocal, causative
    aspects: str  # negation, ability, suddenness and the like
    tenses: str
    participles: str
    converbs: str
    imperatives: str
    infinitives: tuple[str, ...] = ()  # endings of verbs in citation form besides those of `Language`: negative ones
    swallowing: str = ""  # suffixes before which a stem loses its last vowel (`söyle-` + `Iyor` = `söylüyor`)
    softened: dict[str, str] = field(default_factory=dict)  # a final consonant before a vowel -> what it comes from
    high_vowels: str = ""  # those that drop from a stem's last syllable before a vowel (`ağız`, `ağzı`)
    irregular: dict[str, str] = field(default_factory=dict)  # verb stem in a form -> its stem in the infinitive
    nouns: dict[str, str] = field(default_factory=dict)  # noun stems that inflect irregularly -> their base form
    light_verbs: frozenset[str] = frozenset()  # that may be dropped from the end of an idiom, or exchanged
    being: tuple[str, ...] = ()  # the verb to be and become; words for there is, there is not, was
    auxiliaries: frozenset[str] = frozenset()  # verbs that modify the verb before them and may be missing
    pronouns: frozenset[str] = frozenset()  # stems of those that take each other's place
    placeholders: frozenset[str] = frozenset()  # words for an argument; a postposition that may be a suffix
    particles: frozenset[str] = frozenset()  # words that may stand between the words of an idiom at no cost
    enclitics: str = ""  # particles that are written together with the word before them
    hyphened: frozenset[str] = frozenset()  # particles that a hyphen makes a part of the word before them
    letters: dict[str, str] = field(default_factory=dict)  # letters and digraphs -> what replaces them, in turn
    restored: tuple[tuple[str, str], ...] = ()  # lost sounds, as pattern and replacement

    def has_vowel(self, stem: str) -> bool:
        """Return whether a stem has a vowel; without one it is no word."""
        return any(letter in self.vowels for letter in stem)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    """Return a text such as ``ed:et gid:git`` as a dictionary."""
    return dict(pair.split(":") for pair in text.split())


TURKISH = Morphology(
    vowels="aeıioöuü",
    classes={"A": "ae", "I": "ıiuü", "D": "dt", "C": "cç", "K": "kğ"},
    plural="lAr",
    possessives="(I)m (I)n (s)I (I)mIz (I)nIz lArI",
    cases="(y)A (y)I nI nA (n)In DA DAn nDA nDAn (y)lA CA nCA",
    relatives="ki kü",
    copulas="(y)DI (y)mIş (y)sA (y)ken DIr",
    persons="(y)Im sIn (y)Iz sInIz lAr",
    short_persons="m n k nIz",
    voices="Il (I)n DIr t It Ir Ar (I)ş",
    aspects="mA mI m (y)Abil (y)AmA (y)AmI (y)Am (y)Iver (y)Akal (y)Adur",
    tenses="(I)yor (y)AcAK DI mIş (A)r Ir z sA mAlI (y)A mAktA (y)AsI",
    participles="mAK mA (y)An DIK (y)AcAK (y)Iş (y)IcI mIş (A)r Ir z (y)AsI mAklIK",
    converbs="(y)Ip (y)ArAk (y)IncA (y)IncAyA mAdAn mAksIzIn DIkçA (y)AlI (y)A CAsInA mAzdAn (y)AsIyA",
    imperatives="(y)In (y)InIz sIn sInlAr (y)AyIm (y)AlIm sAnA sAnIzA",
    swallowing="Iyor",
    softened=_pairs("b:p c:ç d:t ğ:k g:k"),
    high_vowels="ıiuü",
    irregular=_pairs("ed:et gid:git güd:güt tad:tat di:de yi:ye"),
    nouns=_pairs("bana:ben sana:sen"),
    light_verbs=_words("ol et kıl eyle yap bulun"),
    being=("ol", "var", "yok", "idi", "imiş"),
    pronouns=_words("ben sen o biz siz onlar"),
    placeholders=_words("ile biri birisi birine birini birinin birinden biriyle kimse kimseye kimseyi şey şeyi şeye"),
    particles=_words("mı mi mu mü da de bile ki ise"),
)

AZERBAIJANI = Morphology(
    vowels="aeəıioöuü",
    classes={"A": "aə", "I": "ıiuü", "K": "qkğy"},
    plural="lAr",
    possessives="(I)m (I)n (s)I (I)mIz (I)nIz lArI",
    cases="(y)A (n)I nA (n)In dA ndA dAn ndAn (y)lA cA ncA dək cAn",
    relatives="kI",
    copulas="(y)dI (y)mIş (y)sA dIr (y)kən",
    persons="(y)Am sAn (y)IK sInIz lAr",
    short_persons="m n k q nIz",
    voices="Il (I)n dIr t It Ir Ar (I)ş",
    aspects="mA m (y)Abil",
    tenses="(y)Ir (A)r (y)AcAK dI mIş mI (y)Ib z sA mAlI (y)A mAqdA (y)AsI",
    participles="mAK mA (y)An dIK (y)AcAK (y)Iş (y)IcI mIş (A)r z (y)AsI mAlI",
    converbs="(y)Ib (y)ArAq (y)IncA mAdAn dIqcA (y)AlI (y)A mAzdAn (y)AnAdAK dIqdA",
    imperatives="(y)In (y)InIz sIn sInlAr (y)Im (y)AK sAnA sAnIzA gInAn",
    softened=_pairs("b:p c:ç d:t ğ:q y:k"),
    high_vowels="ıiuü",
    irregular=_pairs("ed:et ged:get güd:güt di:de yi:ye"),
    nouns=_pairs("ona:o onu:o onun:o ondan:o"),
    light_verbs=_words("ol et elə eylə qıl"),
    being=("ol", "var", "yox", "idi", "imiş"),
    pronouns=_words("mən sən o biz siz onlar"),
    placeholders=_words("ilə biri birinə birini birinin birindən kimin kimə kimi şey"),
    particles=_words("da də ki isə mı mi mu mü"),
    enclitics="mI sAnA",
)

TURKMEN = Morphology(
    vowels="aeioöuüy",
    classes={"A": "ae", "I": "yiuü", "K": "kg"},
    plural="lAr",
    possessives="(I)m (I)ň (s)I (I)mIz (I)ňIz lArI",
    cases="A nA (n)I nI (n)Iň dA ndA dAn ndAn çA nçA",
    relatives="kI",
    copulas="dI dIr mIş kA sA",
    persons="In sIň Is sIňIz lAr dIr",
    short_persons="m ň k ňIz",
    voices="(I)l (I)n dIr t It Ir Ar (I)ş",
    aspects="mA Iber (A)ý",
    tenses="ýAr ýA dI (I)pdIr (I)pdI (I)p jAK (A)r z sA mAlI (A)ýjAK (A)nok mAndIr",
    participles="mAK mA (A)n ýAn ýAndIK (A)ndIK jAK jAkdIK (A)r (I)ş dIK z (A)m (A)ň mAlI mAzlIK (A)ýjAK (I)jI",
    converbs="(I)p mAn mAzdAn (I)nçA (A)nsoň dIkçA (A)lI mAkA A ýAnçA (A)gAdA",
    imperatives="(I)ň sIn sInlAr (A)ýIn (A)lIň (A)lI (A)ý sAnA",
    infinitives=("mazlyk", "mezlik"),
    softened=_pairs("b:p j:ç d:t g:k"),
    high_vowels="yiuü",
    irregular=_pairs("ed:et gid:git aýd:aýt"),
    nouns=_pairs("maňa:men saňa:sen oňa:ol ony:ol onuň:ol ondan:ol"),
    light_verbs=_words("bol et eýle kyl"),
    being=("bol", "bar", "ýok", "eken"),
    pronouns=_words("men sen ol biz siz olar"),
    placeholders=_words("biri birine birini biriniň birinden kimiň kime zat"),
    particles=_words("da de hem my mi"),
    enclitics="mI A",
    hyphened=_words("da de"),
    letters={"ä": "e"},
)

GAGAUZ = Morphology(
    vowels="aeıioöuü",
    classes={"A": "ae", "I": "ıiuüae", "D": "dt", "C": "cç"},
    plural="lAr nAr",
    possessives="(I)m (I)n (s)I (I)mIz (I)nIz lArI nArI",
    cases="(y)A (y)I nI nA (n)In DA DAn nDA nDAn (y)lAn lAn nAn CA",
    relatives="ki",
    copulas="(y)DI (y)mIş (y)sA DIr",
    persons="(y)Im sIn (y)Iz sInIz lAr nAr",
    short_persons="m n k z nIz",
    voices="Il (I)n DIr t It Ir Ar (I)ş",
    aspects="mA m (y)Abil (y)AmA (y)Am",
    tenses="eer (y)er (A)r Ir DI mIş z sA mAlI (y)A (y)AcAk (y)AcA",
    participles="mAA mAk mA (y)An DIk DI (y)AcAk (y)AcA (y)Iş (y)IcI mIş (A)r z",
    converbs="(y)Ip (y)ArAk (y)IncA mAdAn DIkçA (y)AlI (y)A (y)ArkAn mAzdAn (y)IncAk",
    imperatives="(y)In (y)InIz sIn sInnAr (y)AyIm (y)AlIm",
    swallowing="eer",
    softened=_pairs("b:p c:ç d:t g:k"),
    high_vowels="ıiuü",
    irregular=_pairs("ed:et gid:git di:de i:i"),
    nouns=_pairs("bana:ban sana:san bän:ban"),
    light_verbs=_words("ol et yap"),
    being=("ol", "var", "yok", "idi", "imiş"),
    pronouns=_words("ben sen o biz siz onnar"),
    placeholders=_words("biri birine birini birinin birinden kimin kime işey"),
    particles=_words("mı mi mu mü da de hem"),
    letters={"ä": "e", "ê": "e"},
    restored=((r"([aeıioöuü])\1", r"\1k\1"),),  # kuyruk, kuyruu; ayak, ayaa
)

UZBEK = Morphology(
    vowels="aeiouö",
    classes={"G": "gkq", "K": "kg", "Q": "qğ"},
    plural="lar",
    possessives="(i)m (i)ng (s)i (i)miz (i)ngiz lari",
    cases="ni ning Ga da dan day dek Gaça ça n na niki",
    relatives="gi ki",
    copulas="dir mi di edi",
    persons="man san miz siz di ti tilar lar laring lariz dilar sizlar",
    short_persons="m ng K ngiz",
    voices="(i)l (i)n (i)ş t it tir dir Giz Gaz iz ir ar",
    aspects="ma aver yver (i)ver ol ola olma",
    tenses="di ti (i)b ub Gan yap a y (a)r mas sa moqda moqçi Gay ajak ayotir yotir yotib ayotib",
    participles="moq masliK Gi (i)ş Gan adigan ydigan digan ayotgan yotgan moqçi (a)r mas uvçi vçi ma GanliK ajak",
    converbs="(i)b ub Gaç Gunça Gani may mayin masdan a y Gudek Guday arkan rkan moqdan",
    imperatives="ing ingiz inglar ng ngiz nglar sin sinlar ay y ayin yin aylik ylik Gin Giz",
    infinitives=("maslik",),
    softened=_pairs("g:k ğ:q"),
    high_vowels="iu",
    irregular=_pairs("tek:teg ek:eg yoq:yoğ siq:siğ oq:oğ"),
    nouns=_pairs("unga:u uni:u uning:u undan:u"),
    light_verbs=_words("böl qil et ayla"),
    being=("böl", "bor", "yöq", "edi", "ekan"),
    auxiliaries=_words("qol qöy yubor ket ol ber tur yur ötir yoz başla"),
    pronouns=_words("men sen u biz siz ular"),
    placeholders=_words("birov birovni birovga birovning birovdan kim kimning kimga narsa"),
    particles=_words("ham mi da u yu"),
    enclitics="mi çi ku da a ya u yu oq yoq gina kina",
    letters={"o\u02bb": "ö", "g\u02bb": "ğ", "\u02bb": "", "sh": "ş", "ch": "ç"},
)

MORPHOLOGIES: dict[str, Morphology] = {
    "tr": TURKISH,
    "az": AZERBAIJANI,
    "tk": TURKMEN,
    "gag": GAGAUZ,
    "uz": UZBEK,
}
