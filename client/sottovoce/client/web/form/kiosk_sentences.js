/** Sentences for a device that is handed round, by language and key: few surveys need them, so they come with its part. */
export const KIOSK_SENTENCES = {
  "en": {
    "kiosk_staff": "For staff: type the code to start the next person.",
    "kiosk_card": "Type the code on your card.",
    "kiosk_start": "Start",
    "kiosk_wrong": "This is not a valid code.",
    "kiosk_again": "Nothing here can tell whether you answered before; each further answer weakens your protection.",
    "kiosk_erased": "In one minute everything of you is erased from this device.",
    "kiosk_once": "With this code your answers can be withdrawn later. It is shown only now: write it down if you want to keep it.",
    "kiosk_done": "Erase now",
    "kiosk_withdrawal": "Code from the receipt",
    "kiosk_withdrawn": "The answers with this code are withdrawn."
  },
  "ar": {
    "kiosk_staff": "للموظفين: اكتب الرمز ليبدأ الشخص التالي.",
    "kiosk_card": "اكتب الرمز الموجود على بطاقتك.",
    "kiosk_start": "ابدأ",
    "kiosk_wrong": "هذا الرمز غير صالح.",
    "kiosk_again": "لا شيء هنا يعرف إن كنت قد أجبت من قبل؛ وكل إجابة أخرى تضعف حمايتك.",
    "kiosk_erased": "بعد دقيقة يُمحى كل ما يخصك من هذا الجهاز.",
    "kiosk_once": "بهذا الرمز يمكن سحب إجاباتك لاحقًا. يظهر الآن فقط: اكتبه إن أردت الاحتفاظ به.",
    "kiosk_done": "امحُ الآن",
    "kiosk_withdrawal": "الرمز من الإيصال",
    "kiosk_withdrawn": "سُحبت الإجابات التي تحمل هذا الرمز."
  },
  "de": {
    "kiosk_staff": "Für das Personal: Geben Sie den Code ein, um die nächste Person beginnen zu lassen.",
    "kiosk_card": "Geben Sie den Code auf Ihrer Karte ein.",
    "kiosk_start": "Anfangen",
    "kiosk_wrong": "Dieser Code ist nicht gültig.",
    "kiosk_again": "Nichts hier kann erkennen, ob Sie schon geantwortet haben; jede weitere Antwort schwächt Ihren Schutz.",
    "kiosk_erased": "In einer Minute wird alles von Ihnen auf diesem Gerät gelöscht.",
    "kiosk_once": "Mit diesem Code lassen sich Ihre Antworten später zurücknehmen. Er steht nur jetzt da: Schreiben Sie ihn auf, wenn Sie ihn behalten wollen.",
    "kiosk_done": "Jetzt löschen",
    "kiosk_withdrawal": "Code von der Quittung",
    "kiosk_withdrawn": "Die Antworten mit diesem Code sind zurückgenommen."
  },
  "es": {
    "kiosk_staff": "Para el personal: escriba el código para que empiece la siguiente persona.",
    "kiosk_card": "Escriba el código de su tarjeta.",
    "kiosk_start": "Empezar",
    "kiosk_wrong": "Este código no es válido.",
    "kiosk_again": "Nada aquí puede saber si usted ya respondió; cada respuesta más debilita su protección.",
    "kiosk_erased": "En un minuto se borra todo lo suyo de este dispositivo.",
    "kiosk_once": "Con este código se pueden retirar sus respuestas más tarde. Solo se muestra ahora: anótelo si quiere conservarlo.",
    "kiosk_done": "Borrar ahora",
    "kiosk_withdrawal": "Código del recibo",
    "kiosk_withdrawn": "Las respuestas con este código se han retirado."
  },
  "fr": {
    "kiosk_staff": "Pour le personnel : saisissez le code pour que la personne suivante commence.",
    "kiosk_card": "Saisissez le code de votre carte.",
    "kiosk_start": "Commencer",
    "kiosk_wrong": "Ce code n’est pas valable.",
    "kiosk_again": "Rien ici ne peut savoir si vous avez déjà répondu ; chaque réponse de plus affaiblit votre protection.",
    "kiosk_erased": "Dans une minute, tout ce qui vous concerne est effacé de cet appareil.",
    "kiosk_once": "Avec ce code, vos réponses peuvent être retirées plus tard. Il n’est affiché que maintenant : notez-le si vous voulez le garder.",
    "kiosk_done": "Effacer maintenant",
    "kiosk_withdrawal": "Code du reçu",
    "kiosk_withdrawn": "Les réponses de ce code sont retirées."
  },
  "hi": {
    "kiosk_staff": "कर्मचारियों के लिए: अगले व्यक्ति को शुरू कराने के लिए कोड लिखें।",
    "kiosk_card": "अपने कार्ड का कोड लिखें।",
    "kiosk_start": "शुरू करें",
    "kiosk_wrong": "यह कोड मान्य नहीं है।",
    "kiosk_again": "यहाँ कुछ भी नहीं बता सकता कि आपने पहले उत्तर दिया था या नहीं; हर अगला उत्तर आपकी सुरक्षा घटाता है।",
    "kiosk_erased": "एक मिनट में इस डिवाइस से आपका सब कुछ मिटा दिया जाएगा।",
    "kiosk_once": "इस कोड से आपके उत्तर बाद में वापस लिए जा सकते हैं। यह केवल अभी दिखता है: रखना चाहें तो लिख लें।",
    "kiosk_done": "अभी मिटाएँ",
    "kiosk_withdrawal": "रसीद का कोड",
    "kiosk_withdrawn": "इस कोड वाले उत्तर वापस ले लिए गए।"
  },
  "pt": {
    "kiosk_staff": "Para a equipe: digite o código para a próxima pessoa começar.",
    "kiosk_card": "Digite o código do seu cartão.",
    "kiosk_start": "Começar",
    "kiosk_wrong": "Este código não é válido.",
    "kiosk_again": "Nada aqui consegue saber se você já respondeu; cada nova resposta enfraquece a sua proteção.",
    "kiosk_erased": "Em um minuto tudo o que é seu é apagado deste dispositivo.",
    "kiosk_once": "Com este código as suas respostas podem ser retiradas mais tarde. Ele só é mostrado agora: anote se quiser guardar.",
    "kiosk_done": "Apagar agora",
    "kiosk_withdrawal": "Código do recibo",
    "kiosk_withdrawn": "As respostas com este código foram retiradas."
  },
  "zh-Hans": {
    "kiosk_staff": "工作人员：请输入代码，让下一位开始。",
    "kiosk_card": "请输入您卡片上的代码。",
    "kiosk_start": "开始",
    "kiosk_wrong": "此代码无效。",
    "kiosk_again": "这里无法知道您以前是否回答过；每多答一次，您受到的保护就减弱一些。",
    "kiosk_erased": "一分钟后，此设备上有关您的一切都会被清除。",
    "kiosk_once": "凭此代码以后可以撤回您的回答。它只在此刻显示：如需保留，请记下来。",
    "kiosk_done": "立即清除",
    "kiosk_withdrawal": "回执上的代码",
    "kiosk_withdrawn": "此代码对应的回答已撤回。"
  }
};
